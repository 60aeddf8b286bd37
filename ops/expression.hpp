// A tree of element-wise ops as one loop: cache-sized pieces go through all of them.
#pragma once
#include "troupe/runtime/kernel.hpp"

#include <vector>

namespace troupe::ops {

/// What the attributes of a _Fused node describe, with its lanes found. Read-only once made: any
/// thread may run it.
class expression {
public:
  /// The most stages and inputs of one expression, so that a piece of each fits the first-level
  /// cache.
  static constexpr size_t most_stages = 32, most_inputs = 16;

  /// Fails for what contradicts itself (a peer may have sent it), and for ops without a lane.
  static result<expression> of(const node& fused);

  /// Computes the only output of the kernel from its inputs.
  status run(kernel_context& at) const;

private:
  // Values are numbered: inputs first, then the result of each stage.
  struct stage {
    const op_def* op = nullptr;
    lane_fn lane = nullptr;
    size_t arity = 0;
    size_t operands[2] = {};
    dtype type = dtype::none;
    size_t buffer = 0; // where the result lies; of no meaning for the last
    std::string origin = {};
  };
  struct operand;
  struct pieces;
  struct stage_shapes;

  status resolve(const registry& ops, const std::string& name, dtype type);
  void assign_buffers();
  status find_shapes(const kernel_context& at, stage_shapes& found) const;
  bool classify(const kernel_context& at, const shape& dims, pieces& how) const;
  void run_range(const pieces& how, int64_t begin, int64_t end) const;
  status run_stage_by_stage(kernel_context& at, const stage_shapes& dims) const;

  size_t inputs_ = 0, buffers_ = 0,
         widest_ = 1; // widest: bytes of an element of an intermediate value
  double cost_ = 0;   // nanoseconds per element
  std::vector<stage> stages_;
};

} // namespace troupe::ops
