#include "troupe/ops/pad/shared/padding.hpp"

namespace troupe::ops::pad_v2_any {
namespace {

status run(kernel_context& at) {
  if (at.input(2).rank() != 0)
    return invalid("constant_values must be a scalar, got shape ", at.input(2).dims());
  return pad_with(at, at.input(2));
}

} // namespace

extern constexpr kernel_def pad_v2_any{
    .op = "PadV2",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::pad_v2_any
