// Shared by SpaceToBatch, BatchToSpace and their ND forms: the axes after the first are split into
// blocks, and each position in a block becomes a part of the batch.
#pragma once
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <optional>

namespace troupe::ops {

enum class batching { space_to_batch, batch_to_space };

/// The block's extents for axes 1, 2, ..., and the padding or cropping of each axis.
struct batch_blocks {
  std::vector<int64_t> sizes;
  std::vector<int64_t> frames; ///< before and after axis 1, axis 2, ...
};

/// The op's output shape; unknown extents stay unknown.
result<partial_shape> batched_shape(const partial_shape& dims, const std::vector<int64_t>& sizes,
                                    const std::optional<std::vector<int64_t>>& frames,
                                    batching direction);

/// For the ND forms, whose inputs 1 and 2 list block and frames.
result<shapes> infer_batching(const infer_context& at, batching direction);
/// For the forms with one block size for two axes, whose input 1 lists the frames.
result<shapes> infer_square_batching(const infer_context& at, batching direction);

status move_batches(kernel_context& at, const batch_blocks& blocks, batching direction);
status move_batches_nd(kernel_context& at, batching direction);
status move_square_batches(kernel_context& at, batching direction);

} // namespace troupe::ops
