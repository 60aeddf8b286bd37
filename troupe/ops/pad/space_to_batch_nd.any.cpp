#include "troupe/ops/pad/shared/space_and_batch.hpp"

namespace troupe::ops::space_to_batch_nd_any {
namespace {

status run(kernel_context& at) { return move_batches_nd(at, batching::space_to_batch); }

} // namespace

extern constexpr kernel_def space_to_batch_nd_any{
    .op = "SpaceToBatchND",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::space_to_batch_nd_any
