#include "troupe/ops/join/shared/concat.hpp"

namespace troupe::ops::concat_any {
namespace {

status run_concat(kernel_context& at) { return concatenate(at, 0, 1); }

status run_concat_v2(kernel_context& at) { return concatenate(at, at.inputs() - 1, 0); }

} // namespace

extern constexpr kernel_def concat_any{
    .op = "Concat",
    .run = {{dtype::none, run_concat}},
    .on_any_device = true,
};

extern constexpr kernel_def concat_v2_any{
    .op = "ConcatV2",
    .run = {{dtype::none, run_concat_v2}},
    .on_any_device = true,
};

} // namespace troupe::ops::concat_any
