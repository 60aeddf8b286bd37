#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/pad/shared/padding.hpp"

namespace troupe::ops::pad_any {
namespace {

status run(kernel_context& at) {
  TROUPE_ASSIGN(auto zero, zero_of(at.output_type(0)));
  return pad_with(at, zero);
}

} // namespace

extern constexpr kernel_def pad_any{
    .op = "Pad",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::pad_any
