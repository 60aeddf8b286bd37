#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::empty_any {
namespace {

status run(kernel_context& at) {
  if (at.input(0).rank() != 1)
    return invalid("shape must be a vector, got shape ", at.input(0).dims());
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(at.input(0))));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  return {};
}

} // namespace

extern constexpr kernel_def empty_any{
    .op = "Empty",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::empty_any
