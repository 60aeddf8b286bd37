#include "troupe/runtime/step_memory.hpp"

namespace troupe {

void* step_memory::allocate(size_t bytes) noexcept {
  auto* memory = from_.allocate(bytes);
  if (!memory)
    return nullptr;
  auto size = counted(bytes);
  auto used = in_use_.fetch_add(size, std::memory_order_relaxed) + size;
  auto peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed))
    ;
  allocated_.fetch_add(size, std::memory_order_relaxed);
  allocations_.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void step_memory::deallocate(void* memory, size_t bytes) noexcept {
  if (!memory)
    return;
  from_.deallocate(memory, bytes);
  give_up(counted(bytes));
}

void step_memory::give_up(size_t size) noexcept {
  if (in_use_.fetch_sub(size, std::memory_order_acq_rel) == size)
    delete this;
}

step_memory_statistics step_memory::statistics() const noexcept {
  return {.in_use = in_use_.load(std::memory_order_relaxed) & ~size_t{1},
          .peak = peak_.load(std::memory_order_relaxed) & ~size_t{1},
          .allocated = allocated_.load(std::memory_order_relaxed),
          .allocations = allocations_.load(std::memory_order_relaxed)};
}

void step_memory::reset() noexcept {
  peak_.store(0, std::memory_order_relaxed);
  allocated_.store(0, std::memory_order_relaxed);
  allocations_.store(0, std::memory_order_relaxed);
}

} // namespace troupe
