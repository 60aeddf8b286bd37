// How the device of a GPU allocates memory from its driver, and when it returns the memory.
#pragma once
#include <chrono>
#include <cstddef>

namespace troupe::gpu {

struct memory_options {
  /// The most bytes that tensors and the cache may use together; 0: nine tenths of the memory.
  size_t limit = 0;
  /// Bytes that are allocated when the device is made, and kept. Tensors get pieces of them, and
  /// adjacent free pieces are coalesced. More memory is allocated on demand.
  size_t reserve = 0;
  /// After this time without an allocation, cached blocks are returned to the driver; 0: never. The
  /// reserve is kept.
  std::chrono::milliseconds give_back_after{0};
};

} // namespace troupe::gpu
