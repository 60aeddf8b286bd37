// Options of the passes that change the graph of a step before it runs (docs/passes.md).
#pragma once
#include "troupe/runtime/types/dtype.hpp"

#include <cstddef>

namespace troupe {

/// Whether tensors of GPUs whose next use is much later are kept in host memory in between
/// (docs/memory.md).
enum class swap_mode : uint8_t {
  off,
  automatic, ///< as many as needed to stay within the GPU's memory, as far as shapes are known
  on         ///< all tensors that can be copied out and back in the time between
};

struct swap_options {
  swap_mode mode = swap_mode::off;
  size_t memory = 0; ///< of each GPU, in bytes; 0: unknown, `automatic` then does nothing
  size_t min_bytes = 256 * 1024; ///< bytes; smaller tensors are not moved
};

/// The passes to run. All of them preserve results within rounding, and all effects. Only
/// mixed_precision rounds to fewer digits.
struct pass_options {
  bool fold = true;              ///< computes constant subexpressions once
  bool simplify = true;          ///< removes x + 0, reshapes of reshapes and the like
  bool merge = true;             ///< computes common subexpressions once
  bool remove_dead = true;       ///< removes control edges without effect
  bool fuse = true;              ///< fuses chains of element-wise ops into one loop
  bool schedule = true;          ///< orders nodes to reduce the peak of memory
  bool hoist_collectives = true; ///< starts collective operations and sends as early as possible
  bool hoist_invariants = true;  ///< computes loop invariants before the loop
  /// dtype::bf16 or dtype::f16: ops that benefit compute f32 values in this type; dtype::none: all
  /// ops compute in the types of the graph (docs/mixed-precision.md)
  dtype mixed_precision = dtype::none;
  swap_options swap = {}; ///< for long-lived tensors, in partitions of GPUs

  static constexpr pass_options none() {
    return {false, false, false, false, false, false, false, false};
  }
};

} // namespace troupe
