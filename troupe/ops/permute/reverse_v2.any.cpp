#include "troupe/ops/permute/shared/reverse.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::reverse_v2_any {
namespace {

status run(kernel_context& at) {
  if (at.input(1).rank() != 1)
    return invalid("axis must be a vector, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto axes, axes_of(to_integers(at.input(1)), at.input(0).rank()));
  return reverse_axes(at, axes);
}

} // namespace

extern constexpr kernel_def reverse_v2_any{
    .op = "ReverseV2",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::reverse_v2_any
