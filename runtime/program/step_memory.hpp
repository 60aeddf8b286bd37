// Where the tensors that one step makes get their memory: the device's, with an account of it.
#pragma once
#include "troupe/runtime/insight/memory_log.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <memory>

namespace troupe {

/// What the tensors take that one step made, in bytes.
struct step_memory_statistics {
  size_t in_use = 0;      ///< now; after the step: what was fetched, sent or stored
  size_t peak = 0;        ///< the most at once
  uint64_t allocated = 0; ///< all together
  uint64_t allocations = 0;
};

/// Serves one step at a time. All functions may be called from any thread, except for reset().
class step_memory final : public allocator {
public:
  struct abandon {
    void operator()(step_memory* one) const noexcept { one->give_up(1); }
  };
  /// Tensors may outlive the owner: the account goes with the last of them.
  using owner = std::unique_ptr<step_memory, abandon>;

  /// `from` must stay until the last tensor is gone.
  static owner make(allocator& from) { return owner{new step_memory{from}}; }

  void* allocate(size_t bytes) noexcept override;
  void deallocate(void* memory, size_t bytes) noexcept override;
  const memory_space* space() const noexcept override { return from_.space(); }

  step_memory_statistics statistics() const noexcept;
  /// Says whether all its tensors are gone, so that it can serve another step.
  bool idle() const noexcept { return in_use_.load(std::memory_order_acquire) == 1; }
  /// Begins another step's account; requires idle(). It is kept in full, or only the bytes in use,
  /// which costs a third.
  void reset() noexcept;
  void keep_account(bool full) noexcept { full_account_.store(full, std::memory_order_relaxed); }

  /// From now on it notes down how much of the device's memory is in use, whenever a tensor comes
  /// or goes, so many times at most; nothing where that memory has no gauge. Before the step.
  void begin_log(size_t most);
  void end_log() noexcept;
  void collect_log(memory_timeline& to) const;

private:
  explicit step_memory(allocator& from) noexcept : from_(from) {}
  ~step_memory() override = default;
  // Empty tensors count, too, or they would outlive the account.
  static constexpr size_t counted(size_t bytes) noexcept {
    return bytes == 0 ? 2 : (bytes + 1) & ~size_t{1};
  }
  void give_up(size_t size) noexcept;

  allocator& from_;
  // Bytes in use, rounded up to even numbers, and one for the owner.
  std::atomic<size_t> in_use_{1};
  std::atomic<size_t> peak_{0};
  std::atomic<uint64_t> allocated_{0}, allocations_{0};
  std::atomic<bool> full_account_{true};
  // Stays when it was made: tensors of a step that has ended may look at it.
  std::unique_ptr<memory_log> own_log_;
  std::atomic<memory_log*> log_{nullptr};
};

} // namespace troupe
