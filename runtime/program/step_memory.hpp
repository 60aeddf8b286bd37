// The allocator for the tensors of one step: the device's memory with an account of it.
#pragma once
#include "troupe/runtime/insight/memory_log.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <memory>

namespace troupe {

/// Memory of the tensors that one step made, in bytes.
struct step_memory_statistics {
  size_t in_use = 0;      ///< now; after the step: tensors that were fetched, sent or stored
  size_t peak = 0;        ///< maximum of in_use
  uint64_t allocated = 0; ///< sum of all allocations
  uint64_t allocations = 0;
};

/// Serves one step at a time. All functions may be called from any thread, except for reset().
class step_memory final : public allocator {
public:
  struct abandon {
    void operator()(step_memory* abandoned) const noexcept { abandoned->release(1); }
  };
  /// Tensors may outlive the owner: the account is destroyed with the last of them.
  using owner = std::unique_ptr<step_memory, abandon>;

  /// `from` must outlive the last tensor.
  static owner make(allocator& from) { return owner{new step_memory{from}}; }

  void* allocate(size_t bytes) noexcept override;
  void deallocate(void* memory, size_t bytes) noexcept override;
  const memory_space* space() const noexcept override { return from_.space(); }

  step_memory_statistics statistics() const noexcept;
  /// Returns whether all its tensors are freed, so that it can serve another step.
  bool idle() const noexcept { return in_use_.load(std::memory_order_acquire) == 1; }
  /// Begins the account of another step; requires idle(). A full account has all statistics;
  /// otherwise only in_use is counted, which costs a third.
  void reset() noexcept;
  void set_full_account(bool full) noexcept {
    full_account_.store(full, std::memory_order_relaxed);
  }

  /// From now on records the device's memory in use whenever a tensor is allocated or freed, up to
  /// `capacity` readings; does nothing for a device that cannot report it. Call before the step.
  void begin_log(size_t capacity);
  void end_log() noexcept;
  void collect_log(memory_timeline& to) const;

private:
  explicit step_memory(allocator& from) noexcept : from_(from) {}
  ~step_memory() override = default;
  // Empty tensors are counted, too, since they also refer to the account.
  static constexpr size_t counted(size_t bytes) noexcept {
    return bytes == 0 ? 2 : (bytes + 1) & ~size_t{1};
  }
  void release(size_t size) noexcept;

  allocator& from_;
  // Bytes in use, rounded up to even numbers, and one for the owner.
  std::atomic<size_t> in_use_{1};
  std::atomic<size_t> peak_{0};
  std::atomic<uint64_t> allocated_{0}, allocations_{0};
  std::atomic<bool> full_account_{true};
  // Kept once it exists: tensors of a step that has ended may still use it.
  std::unique_ptr<memory_log> own_log_;
  std::atomic<memory_log*> log_{nullptr};
};

} // namespace troupe
