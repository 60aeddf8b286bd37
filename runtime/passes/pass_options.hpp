// Which passes change the graph of a step before it is run (docs/passes.md).
#pragma once
#include "troupe/runtime/types/dtype.hpp"

#include <cstddef>

namespace troupe {

/// Whether tensors of GPUs that are used again much later spend the time in between in the host's
/// memory (docs/memory.md).
enum class swap_mode : uint8_t {
  off,
  automatic, ///< as many as it takes to stay within the GPU's memory, as far as shapes are known
  on         ///< whatever can be copied there and back meanwhile
};

struct swap_options {
  swap_mode mode = swap_mode::off;
  size_t memory = 0;            ///< of each GPU, in bytes; 0: unknown, and `automatic` does nothing
  size_t at_least = 256 * 1024; ///< bytes; smaller tensors stay
};

/// Which passes are run. All of them keep results within rounding, and all effects; only
/// mixed_precision rounds to fewer digits.
struct pass_options {
  bool fold = true;              ///< computes once what is constant
  bool simplify = true;          ///< x + 0, reshapes of reshapes and the like
  bool merge = true;             ///< computes once what is written several times
  bool dead = true;              ///< drops control edges that order nothing
  bool fuse = true;              ///< makes chains of element-wise ops one loop
  bool schedule = true;          ///< orders nodes so that less memory is needed at once
  bool hoist_collectives = true; ///< lets exchanges with other devices begin as early as they can
  bool hoist_invariants = true;  ///< computes before a loop what all of its turns compute alike
  /// dtype::bf16 or dtype::f16: ops that gain by it compute f32 values in this type; dtype::none:
  /// all compute what the graph says (docs/mixed-precision.md)
  dtype mixed_precision = dtype::none;
  swap_options swap = {}; ///< of long-lived tensors, in partitions of GPUs

  static constexpr pass_options none() {
    return {false, false, false, false, false, false, false, false};
  }
};

} // namespace troupe
