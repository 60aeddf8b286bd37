// The decoded attributes of a _Fused node: element-wise ops and their operands.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <array>
#include <vector>

namespace troupe {

struct fused_stage {
  const op_def* op = nullptr;
  dtype operand_type = dtype::none; ///< the type of all operands
  dtype type = dtype::none;         ///< the type of the result
  size_t arity = 0;
  size_t operands[2] = {}; ///< value numbers: first the node's inputs, then the stages' results
  std::string origin = {}; ///< the description of the user's node
};

struct fused_stages {
  /// The limits of one node, chosen so that a chunk of each value fits into the first-level cache.
  static constexpr size_t max_stages = 32, max_inputs = 16;

  size_t inputs = 0;
  std::vector<fused_stage> stages;

  /// Decodes a node. Fails for inconsistent attributes, because a peer may have sent them.
  static result<fused_stages> decode(const node& fused);

  /// The shape of each stage's result.
  struct shapes {
    std::array<const shape*, max_stages> by_stage;
    std::vector<shape> storage; ///< storage for shapes that differ from those of all operands
  };
  status find_shapes(const kernel_context& at, shapes& results) const;
};

} // namespace troupe
