// What the runtime asks of a device; `devices/` implements it.
#pragma once
#include "troupe/runtime/device/stop_signal.hpp"
#include "troupe/runtime/types/tensor.hpp"

#include <cstdint>
#include <string>

namespace troupe {

enum class device_kind : uint8_t { cpu, gpu };

/// The name used in device strings: "cpu", "gpu".
std::string_view to_string(device_kind kind) noexcept;

/// Names one piece of a loop: calls `body(context, begin, end)`.
struct range_body {
  void (*call)(void* context, int64_t begin, int64_t end);
  void* context;
};

/// What an allocator has given out, in bytes.
struct memory_statistics {
  size_t in_use = 0;
  size_t peak = 0;   ///< the most ever in use at once
  size_t cached = 0; ///< given back by tensors, kept for the next ones
  uint64_t allocations = 0;
  size_t swapped = 0; ///< in files (swap_space.hpp); none of it is in use
};

class accelerator;
class pending_inputs;
class swap_space;

/// Runs kernels and owns memory. All functions may be called from any thread.
class device {
public:
  virtual ~device() = default;
  virtual device_kind kind() const noexcept = 0;
  virtual int ordinal() const noexcept = 0; ///< 0 for /device:cpu:0
  /// Itself, where kernels only launch what then runs in memory of its own (accelerator.hpp).
  virtual accelerator* as_accelerator() noexcept { return nullptr; }
  /// Itself, where kernels may begin before their inputs are there (pending_inputs.hpp).
  virtual pending_inputs* as_pending_inputs() noexcept { return nullptr; }
  /// Whether results have the same bits for any number of threads.
  virtual bool deterministic() const noexcept { return false; }
  /// How many threads one node may keep busy, the one that runs it counted.
  virtual int threads() const noexcept { return 1; }
  virtual std::string description() const = 0; ///< for people: model, cores, memory
  virtual size_t memory_limit() const noexcept = 0;
  virtual allocator& memory() noexcept = 0;
  virtual memory_statistics statistics() const { return {}; }
  /// Where tensors go that are not read for long; null where there is none.
  virtual swap_space* swap() noexcept { return nullptr; }
  /// Returns cached memory to the system, such as after an unusually large step.
  virtual void release_cached_memory() noexcept {}

  /// Calls the body for disjoint ranges that cover [0, items), on the calling thread and perhaps
  /// others, and returns when all are done. `nanoseconds_per_item` is an estimate of the cost. With
  /// a stop signal, ranges take about half a millisecond by the estimate, and those that have not
  /// begun when it is due are left out: what the loop computes is then of no use.
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
