// Lets tensors of a GPU spend a while in the host's memory (white paper 2015, 9.2).
#pragma once
#include "troupe/runtime/device/pending_inputs.hpp"

namespace troupe {

/// Bytes.
struct swap_statistics {
  uint64_t out = 0, in = 0; ///< copied so far
  uint64_t held = 0;        ///< that lie in the host's memory now
};

/// What a device offers beside `accelerator` (accelerator.hpp), for the ops _SwapOut, _SwapIn and
/// _Swapped. Copies run beside what else is launched; all functions launch and return.
class swapping : public pending_inputs {
public:
  /// Launches a copy to pinned memory of the host. What it returns stands for the copy and is of
  /// use for swap_in() only. The tensor may be let go of: whoever gets its memory next is launched
  /// behind the copy. Where others hold the tensor, so that this would free nothing, or where there
  /// is no pinned memory, it stays where it is and is returned.
  virtual result<tensor> swap_out(const tensor& from) = 0;

  /// Takes memory and launches the copy back, behind what was launched before. Nobody may use the
  /// tensor before wait_for().
  virtual result<tensor> swap_in(const tensor& saved, allocator& memory) = 0;

  virtual swap_statistics swaps() const = 0;

protected:
  ~swapping() = default;
};

} // namespace troupe
