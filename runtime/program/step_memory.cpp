#include "troupe/runtime/program/step_memory.hpp"

namespace troupe {

void* step_memory::allocate(size_t bytes) noexcept {
  auto* memory = from_.allocate(bytes);
  if (!memory)
    return nullptr;
  auto size = counted(bytes);
  auto used = in_use_.fetch_add(size, std::memory_order_relaxed) + size;
  if (full_account_.load(std::memory_order_relaxed)) {
    auto peak = peak_.load(std::memory_order_relaxed);
    while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed))
      ;
    allocated_.fetch_add(size, std::memory_order_relaxed);
    allocations_.fetch_add(1, std::memory_order_relaxed);
  }
  if (auto* log = log_.load(std::memory_order_acquire)) [[unlikely]]
    log->note();
  return memory;
}

void step_memory::deallocate(void* memory, size_t bytes) noexcept {
  if (!memory)
    return;
  from_.deallocate(memory, bytes);
  if (auto* log = log_.load(std::memory_order_acquire)) [[unlikely]]
    log->note();
  release(counted(bytes));
}

void step_memory::release(size_t size) noexcept {
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

void step_memory::begin_log(size_t capacity) {
  if (!own_log_) {
    const auto* usage = from_.usage();
    if (!usage)
      return;
    own_log_ = std::make_unique<memory_log>(*usage, capacity);
  }
  own_log_->begin();
  log_.store(own_log_.get(), std::memory_order_release);
}

void step_memory::end_log() noexcept {
  if (!own_log_)
    return;
  own_log_->end();
  log_.store(nullptr, std::memory_order_relaxed);
}

void step_memory::collect_log(memory_timeline& to) const {
  if (own_log_)
    own_log_->collect(to);
}

} // namespace troupe
