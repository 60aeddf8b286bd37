#include "troupe/ops/join/shared/concat.hpp"

namespace troupe::ops::concat_v2_any {
namespace {

status run(kernel_context& at) { return concatenate(at, at.inputs() - 1, 0); }

} // namespace

extern constexpr kernel_def concat_v2_any{
    .op = "ConcatV2",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::concat_v2_any
