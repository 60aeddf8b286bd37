#include "troupe/ops/pad/shared/space_and_depth.hpp"

namespace troupe::ops::space_to_depth_any {
namespace {

status run(kernel_context& at) { return move_blocks(at, true); }

} // namespace

extern constexpr kernel_def space_to_depth_any{
    .op = "SpaceToDepth",
    .run = {{dtype::none, run}},
    .prepare = keep_block_layout,
    .on_any_device = true,
};

} // namespace troupe::ops::space_to_depth_any
