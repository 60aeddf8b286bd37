// Indices whose last axis lists coordinates: shared by GatherNd, ScatterNd and the TensorScatter
// ops.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <string_view>

namespace troupe::ops {

/// The shape of the blocks that indices select.
struct block_shape {
  shape dims;         ///< one block per row of coordinates
  int64_t length = 1; ///< elements of a block
  int64_t count = 1;
  int depth = 0; ///< coordinates per row
};
result<block_shape> block_shape_of(const tensor& indices, const shape& dims,
                                   std::string_view policy);

/// The blocks of a tensor that indices select by their leading coordinates.
struct named_blocks {
  shape dims;                  ///< one block per row of coordinates
  int64_t length = 1;          ///< elements of a block
  std::vector<int64_t> places; ///< the blocks' numbers; -1 for an ignored block
};

/// Fails for coordinates outside of the shape, unless the policy is "IGNORE".
result<named_blocks> blocks_named(kernel_context& at, const tensor& indices, const shape& dims,
                                  std::string_view policy);

/// The shape of the blocks, as far as it is known.
result<partial_shape> infer_named_blocks(const infer_context& at, const partial_shape& indices,
                                         const partial_shape& dims);

inline result<std::shared_ptr<void>> keep_no_policy(const kernel_setup&) {
  return std::shared_ptr<void>{std::make_shared<std::string>()};
}

/// For ops that update input 0 at the indices in input 1 with the values in input 2.
result<shapes> infer_tensor_scatter(const infer_context& at);

} // namespace troupe::ops
