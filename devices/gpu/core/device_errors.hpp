// Errors about the values of inputs, which a running kernel reports in flags: it cannot return one.
#pragma once
#include "troupe/runtime/device/launch_owner.hpp"
#include "troupe/runtime/types/status.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

namespace troupe::gpu {

/// Reports a value outside of [0, limit). With a limit below zero, `text` is the whole text, with a
/// # for the value. Texts are in host memory, and live as long as the program.
struct device_error {
  enum : int { none, in_writing, written };
  int stage = none;
  const char* op = nullptr;   ///< "GatherV2"
  const char* text = nullptr; ///< "indices"
  int64_t value = 0, limit = 0;
  uint64_t epoch = 0; ///< of the launch
};

/// The errors of a step's launches (launch_owner.hpp) belong to the step: its number is their
/// epoch. Of launches without a step, those between two positions in a stream belong to one epoch,
/// so that nobody gets errors of later launches. The first error of an epoch is kept. Thread-safe.
class device_error_flags {
public:
  static constexpr size_t epochs = 64; ///< with a box for each; later epochs share the boxes
  using boxes = std::array<device_error, epochs + 1>;

  /// `shared` is in memory that both kernels and the host can write.
  explicit device_error_flags(boxes& shared) noexcept : boxes_(shared) {}

  struct place {
    device_error* box;
    uint64_t epoch;
  };
  /// The box of a kernel that is launched now.
  place for_launch() const noexcept {
    auto owner = current_launch_owner();
    auto epoch = owner ? owner : epoch_.load(std::memory_order_relaxed);
    return {&boxes_[epoch % epochs], epoch};
  }
  /// The box of a kernel that is replayed: the next take() reports its error.
  place for_replay() const noexcept { return {&boxes_[epochs], 0}; }

  /// The launches of a step, and the earlier ones without a step.
  struct launches {
    uint64_t owner = 0, until = 0;
  };
  /// Returns the earlier launches of the current step; later ones without a step are in a new
  /// epoch.
  launches end_epoch() noexcept {
    return {current_launch_owner(), epoch_.fetch_add(1, std::memory_order_relaxed)};
  }

  /// Reports an error from the host: of a simulated kernel, or of a copy that was not launched.
  void add(uint64_t epoch, status reason);

  /// Returns the first error of these launches, and forgets all of these.
  status take(const launches& ended);

private:
  boxes& boxes_;
  std::atomic<uint64_t> epoch_{1};
  std::mutex mutex_; // of the following members
  std::deque<std::pair<uint64_t, status>> reported_;
};

} // namespace troupe::gpu
