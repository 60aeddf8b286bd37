#include "troupe/ops/pad/shared/space_and_depth.hpp"

namespace troupe::ops::depth_to_space_any {
namespace {

status run(kernel_context& at) { return move_blocks(at, false); }

} // namespace

extern constexpr kernel_def depth_to_space_any{
    .op = "DepthToSpace",
    .run = {{dtype::none, run}},
    .prepare = keep_block_layout,
    .on_any_device = true,
};

} // namespace troupe::ops::depth_to_space_any
