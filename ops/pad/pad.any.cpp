#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pad/shared/padding.hpp"

namespace troupe::ops::pad_any {
namespace {

status run_pad(kernel_context& at) {
  TROUPE_ASSIGN(auto zero, zero_of(at.output_type(0)));
  return pad_with(at, zero);
}

status run_pad_v2(kernel_context& at) {
  if (at.input(2).rank() != 0)
    return invalid("constant_values must be a scalar, got shape ", at.input(2).dims());
  return pad_with(at, at.input(2));
}

} // namespace

extern constexpr kernel_def pad_any{
    .op = "Pad",
    .run = {{dtype::none, run_pad}},
    .on_any_device = true,
};

extern constexpr kernel_def pad_v2_any{
    .op = "PadV2",
    .run = {{dtype::none, run_pad_v2}},
    .on_any_device = true,
};

} // namespace troupe::ops::pad_any
