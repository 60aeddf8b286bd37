// Moves tensors of a GPU to host memory and back (white paper 2015, 9.2).
#pragma once
#include "troupe/runtime/device/pending_inputs.hpp"

namespace troupe {

/// Counts in bytes.
struct swap_statistics {
  uint64_t bytes_out = 0, bytes_in = 0; ///< copied since the start
  uint64_t bytes_on_host = 0;           ///< currently in host memory
};

/// An optional interface of a device, in addition to `accelerator` (accelerator.hpp), for the ops
/// _SwapOut, _SwapIn and _Swapped. Copies run in parallel with other launched work. No function
/// blocks.
class swap_support : public pending_inputs {
public:
  /// Launches a copy to pinned host memory and returns a tensor that stands for the copy, valid
  /// only as an argument of swap_in(). `from` may be released at once: launches that reuse its
  /// memory run after the copy. Returns `from` itself if the tensor is shared, so that the copy
  /// would free nothing, or if there is no pinned memory.
  virtual result<tensor> swap_out(const tensor& from) = 0;

  /// Allocates memory and launches the copy back, after all work launched before. The tensor must
  /// not be used before wait_for().
  virtual result<tensor> swap_in(const tensor& saved, allocator& memory) = 0;

  virtual swap_statistics swaps() const = 0;

protected:
  ~swap_support() = default;
};

} // namespace troupe
