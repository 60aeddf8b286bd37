#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/pad/shared/space_and_batch.hpp"

namespace troupe::ops::space_to_batch_any {
namespace {

status run_space_to_batch(kernel_context& at) {
  return move_square_batches(at, batching::space_to_batch);
}

status run_space_to_batch_nd(kernel_context& at) {
  return move_batches_nd(at, batching::space_to_batch);
}

status run_batch_to_space(kernel_context& at) {
  return move_square_batches(at, batching::batch_to_space);
}

status run_batch_to_space_nd(kernel_context& at) {
  return move_batches_nd(at, batching::batch_to_space);
}

} // namespace

extern constexpr kernel_def space_to_batch_any{
    .op = "SpaceToBatch",
    .run = {{dtype::none, run_space_to_batch}},
    .prepare = cache_attr<int64_t, "block_size">,
    .on_any_device = true,
};

extern constexpr kernel_def space_to_batch_nd_any{
    .op = "SpaceToBatchND",
    .run = {{dtype::none, run_space_to_batch_nd}},
    .on_any_device = true,
};

extern constexpr kernel_def batch_to_space_any{
    .op = "BatchToSpace",
    .run = {{dtype::none, run_batch_to_space}},
    .prepare = cache_attr<int64_t, "block_size">,
    .on_any_device = true,
};

extern constexpr kernel_def batch_to_space_nd_any{
    .op = "BatchToSpaceND",
    .run = {{dtype::none, run_batch_to_space_nd}},
    .on_any_device = true,
};

} // namespace troupe::ops::space_to_batch_any
