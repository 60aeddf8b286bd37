#include "tests/simulate/device.hpp"

namespace troupe::simulate {

void* failing_memory::allocate(size_t bytes) noexcept {
  if (is_short && chance_.permille(300))
    return nullptr;
  ++live;
  return heap_allocator().allocate(bytes);
}

void failing_memory::deallocate(void* memory, size_t bytes) noexcept {
  --live;
  heap_allocator().deallocate(memory, bytes);
}

} // namespace troupe::simulate
