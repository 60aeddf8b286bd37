#include "troupe/ops/pad/shared/space_and_batch.hpp"

namespace troupe::ops::batch_to_space_nd_any {
namespace {

status run(kernel_context& at) { return move_batches_nd(at, batching::batch_to_space); }

} // namespace

extern constexpr kernel_def batch_to_space_nd_any{
    .op = "BatchToSpaceND",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::batch_to_space_nd_any
