#include "troupe/ops/loss/in_top_k.cpu.hpp"

namespace troupe::ops::in_top_k_v2_cpu {
namespace {

template <class Target>
status run(kernel_context& at) {
  if (at.input(2).rank() != 0)
    return invalid("k must be a scalar, got shape ", at.input(2).dims());
  return mark_in_top_k<Target>(at, *at.input(2).data<Target>());
}

} // namespace

extern constexpr kernel_def in_top_k_v2_cpu{
    .op = "InTopKV2",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
};

} // namespace troupe::ops::in_top_k_v2_cpu
