#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"

namespace troupe::ops::space_to_batch_any {
namespace {

status run(kernel_context& at) { return move_square_batches(at, batching::space_to_batch); }

} // namespace

extern constexpr kernel_def space_to_batch_any{
    .op = "SpaceToBatch",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "block_size">,
    .on_any_device = true,
};

} // namespace troupe::ops::space_to_batch_any
