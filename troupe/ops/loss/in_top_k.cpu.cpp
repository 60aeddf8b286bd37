#include "troupe/ops/loss/in_top_k.cpu.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::in_top_k_cpu {
namespace {

template <class Target>
status run(kernel_context& at) {
  return mark_in_top_k<Target>(at, at.state<int64_t>());
}

} // namespace

extern constexpr kernel_def in_top_k_cpu{
    .op = "InTopK",
    .device = device_kind::cpu,
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .prepare = cache_attr<int64_t, "k">,
};

} // namespace troupe::ops::in_top_k_cpu
