#include "troupe/ops/array/space_and_batch.hpp"

namespace troupe::ops {
namespace {

status run(kernel_context& at) { return move_batches_nd(at, batching::batch_to_space); }

} // namespace

extern constexpr kernel_def batch_to_space_nd_cpu{
    .op = "BatchToSpaceND",
    .run = {{dtype::none, run}},
};

} // namespace troupe::ops
