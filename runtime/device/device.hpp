// The interface of a device to the runtime; `devices/` implements it.
#pragma once
#include "troupe/runtime/device/stop_signal.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <string>

namespace troupe {

enum class device_kind : uint8_t { cpu, gpu };

/// Returns the name used in device strings: "cpu", "gpu".
std::string_view to_string(device_kind kind) noexcept;

/// The body of a parallel loop, type-erased: `call(context, begin, end)` runs one range.
struct range_body {
  void (*call)(void* context, int64_t begin, int64_t end);
  void* context;
};

/// The state of an allocator, in bytes.
struct memory_statistics {
  size_t in_use = 0;
  size_t peak = 0;   ///< the largest value of in_use so far
  size_t cached = 0; ///< freed by tensors and kept for later allocations
  uint64_t allocations = 0;
  size_t swapped = 0; ///< in files (swap_space.hpp), not counted by in_use
};

class accelerator;
class pending_inputs;
class swap_space;

/// A device that runs kernels and owns memory. Any thread may call any function.
class device {
public:
  virtual ~device() = default;
  virtual device_kind kind() const noexcept = 0;
  virtual int ordinal() const noexcept = 0; ///< 0 for /device:cpu:0
  /// Returns this device if its kernels launch asynchronous work (accelerator.hpp).
  virtual accelerator* as_accelerator() noexcept { return nullptr; }
  /// Returns this device if its kernels may start before their inputs are ready
  /// (pending_inputs.hpp).
  virtual pending_inputs* as_pending_inputs() noexcept { return nullptr; }
  /// Returns whether results are bitwise equal for any number of threads.
  virtual bool deterministic() const noexcept { return false; }
  /// Returns the largest number of threads that one node may use, including its own.
  virtual int threads() const noexcept { return 1; }
  virtual std::string description() const = 0; ///< for display: model, cores, memory
  virtual size_t memory_limit() const noexcept = 0;
  virtual allocator& memory() noexcept = 0;
  virtual memory_statistics statistics() const { return {}; }
  /// Returns the space for tensors that are not read for a long time; null if there is none.
  virtual swap_space* swap() noexcept { return nullptr; }
  /// Returns cached memory to the system, for instance after an unusually large step.
  virtual void release_cached_memory() noexcept {}

  /// Calls the body for disjoint ranges that cover [0, items), on the calling thread and perhaps on
  /// others, and returns when all calls have returned. `nanoseconds_per_item` is an estimate of the
  /// cost. With a stop signal, a range takes about half a millisecond by this estimate, and ranges
  /// that have not started when the signal is due are skipped: the result is then incomplete.
  virtual void parallel_ranges(int64_t items, double nanoseconds_per_item, range_body body,
                               stop_signal* stop) = 0;

  template <class Body>
  void parallel_for(int64_t items, double nanoseconds_per_item, Body&& body,
                    stop_signal* stop = nullptr) {
    using plain = std::remove_reference_t<Body>;
    parallel_ranges(items, nanoseconds_per_item,
                    {[](void* context, int64_t begin, int64_t end) {
                       (*static_cast<plain*>(context))(begin, end);
                     },
                     const_cast<std::remove_const_t<plain>*>(&body)},
                    stop);
  }
};

} // namespace troupe
