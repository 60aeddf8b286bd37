#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"

namespace troupe::ops::batch_to_space_any {
namespace {

status run(kernel_context& at) { return move_square_batches(at, batching::batch_to_space); }

} // namespace

extern constexpr kernel_def batch_to_space_any{
    .op = "BatchToSpace",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "block_size">,
    .on_any_device = true,
};

} // namespace troupe::ops::batch_to_space_any
