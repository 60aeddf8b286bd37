// How a GPU's device takes memory from its driver, and when it gives it back.
#pragma once
#include <chrono>
#include <cstddef>

namespace troupe::gpu {

struct memory_options {
  /// The most bytes that tensors and what is kept for them may take together; 0: nine tenths of
  /// what there is.
  size_t limit = 0;
  /// Bytes that are taken at once when the device is made, and kept; tensors get pieces of them,
  /// and what lies beside each other is joined again. What goes beyond is taken when it is needed.
  size_t reserve = 0;
  /// After so long without a new tensor, blocks that are kept for the next ones go back to the
  /// driver; 0: never. The reserve stays.
  std::chrono::milliseconds give_back_after{0};
};

} // namespace troupe::gpu
