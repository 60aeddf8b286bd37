#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::zeros_like_any {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, at.input(0).dims()));
  TROUPE_ASSIGN(auto value, zero_of(out->type()));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(value, {*out, begin}, end - begin);
  });
  return {};
}

} // namespace

extern constexpr kernel_def zeros_like_any{
    .op = "ZerosLike",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::zeros_like_any
