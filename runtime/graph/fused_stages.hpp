// What the attributes of a _Fused node describe: element-wise ops, each with its operands.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <array>
#include <vector>

namespace troupe {

struct fused_stage {
  const op_def* op = nullptr;
  dtype operand_type = dtype::none; ///< of all its operands
  dtype type = dtype::none;         ///< of its result
  size_t arity = 0;
  size_t operands[2] = {}; ///< values: inputs are counted first, then the result of each stage
  std::string origin = {}; ///< the user's node
};

struct fused_stages {
  /// The most stages and inputs of one node, so that a piece of each fits the first-level cache.
  static constexpr size_t max_stages = 32, max_inputs = 16;

  size_t inputs = 0;
  std::vector<fused_stage> all;

  /// Fails for what contradicts itself: a peer may have sent it.
  static result<fused_stages> of(const node& fused);

  /// The shape of each stage's result.
  struct shapes {
    std::array<const shape*, max_stages> of;
    std::vector<shape> joint; ///< most have the shape of one of their operands, others need memory
  };
  status find_shapes(const kernel_context& at, shapes& found) const;
};

} // namespace troupe
