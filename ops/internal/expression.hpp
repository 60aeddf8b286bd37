// Runs a tree of element-wise ops as one loop over cache-sized pieces.
#pragma once
#include "troupe/runtime/graph/fused_stages.hpp"

namespace troupe::ops {

/// The program of a _Fused node's attributes, with its inner loops. Immutable: any thread may run
/// it.
class expression {
public:
  /// Fails for inconsistent attributes, which a peer may have sent, and for ops without an inner
  /// loop.
  static result<expression> of(const node& fused);

  /// Computes the only output of the kernel from its inputs.
  status run(kernel_context& at) const;

private:
  struct loop {
    inner_loop_fn run = nullptr;
    size_t buffer = 0; // the index of the result's buffer; unused for the last
  };
  struct operand;
  struct pieces;

  void assign_buffers();
  bool classify(const kernel_context& at, const shape& dims, pieces& layout) const;
  void run_range(const pieces& layout, int64_t begin, int64_t end) const;
  status run_stage_by_stage(kernel_context& at, const fused_stages::shapes& dims) const;

  fused_stages form_;
  std::vector<loop> loops_;         // one per stage
  double cost_ = 0;                 // nanoseconds per element
  size_t buffers_ = 0, widest_ = 1; // widest: bytes of an element of an intermediate value
};

} // namespace troupe::ops
