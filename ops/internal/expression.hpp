// A tree of element-wise ops as one loop: cache-sized pieces go through all of them.
#pragma once
#include "troupe/runtime/graph/fused_stages.hpp"

namespace troupe::ops {

/// What the attributes of a _Fused node describe, with its inner loops found. Read-only once made:
/// any thread may run it.
class expression {
public:
  /// Fails for what contradicts itself (a peer may have sent it), and for ops without an inner
  /// loop.
  static result<expression> of(const node& fused);

  /// Computes the only output of the kernel from its inputs.
  status run(kernel_context& at) const;

private:
  struct loop {
    inner_loop_fn run = nullptr;
    size_t buffer = 0; // where the result lies; of no meaning for the last
  };
  struct operand;
  struct pieces;

  void assign_buffers();
  bool classify(const kernel_context& at, const shape& dims, pieces& how) const;
  void run_range(const pieces& how, int64_t begin, int64_t end) const;
  status run_stage_by_stage(kernel_context& at, const fused_stages::shapes& dims) const;

  fused_stages form_;
  std::vector<loop> loops_;         // of the stages
  double cost_ = 0;                 // nanoseconds per element
  size_t buffers_ = 0, widest_ = 1; // widest: bytes of an element of an intermediate value
};

} // namespace troupe::ops
