#include "troupe/ops/pad/shared/space_and_depth.hpp"

namespace troupe::ops::space_to_depth_any {
namespace {

status run_space_to_depth(kernel_context& at) { return move_blocks(at, true); }

status run_depth_to_space(kernel_context& at) { return move_blocks(at, false); }

} // namespace

extern constexpr kernel_def space_to_depth_any{
    .op = "SpaceToDepth",
    .run = {{dtype::none, run_space_to_depth}},
    .prepare = keep_block_layout,
    .on_any_device = true,
};

extern constexpr kernel_def depth_to_space_any{
    .op = "DepthToSpace",
    .run = {{dtype::none, run_depth_to_space}},
    .prepare = keep_block_layout,
    .on_any_device = true,
};

} // namespace troupe::ops::space_to_depth_any
