// How kernels, which cannot fail, say what is wrong with the values that they were given.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <array>
#include <atomic>
#include <deque>
#include <mutex>

namespace troupe::gpu {

/// A value that is not in [0, limit). A limit below zero: `what` says all, with the value in place
/// of a #. Texts are the host's, and live as long as the program.
struct device_error {
  enum : int { none, in_writing, written };
  int stage = none;
  const char* op = nullptr;   ///< "GatherV2"
  const char* what = nullptr; ///< "indices"
  int64_t value = 0, limit = 0;
  uint64_t epoch = 0; ///< of the launch
};

/// Complaints of the launches between two places in a device's line belong to one epoch, so that
/// nobody answers for what was launched later. The first of an epoch stays. Any thread may call.
class device_error_flags {
public:
  static constexpr size_t epochs = 64; ///< with boxes of their own; later ones share them
  using boxes = std::array<device_error, epochs + 1>;

  /// In memory that both kernels and the host can write.
  explicit device_error_flags(boxes& in) noexcept : boxes_(in) {}

  struct place {
    device_error* box;
    uint64_t epoch;
  };
  /// For a kernel that is launched now.
  place now() const noexcept {
    auto epoch = epoch_.load(std::memory_order_relaxed);
    return {&boxes_[epoch % epochs], epoch};
  }
  /// For a kernel that is launched many times: whoever asks next hears of it.
  place always() const noexcept { return {&boxes_[epochs], 0}; }
  /// What was launched from now on belongs to another epoch than the one returned.
  uint64_t end_epoch() noexcept { return epoch_.fetch_add(1, std::memory_order_relaxed); }

  /// From the host, for simulated kernels.
  void add(uint64_t epoch, status why);

  /// The first device_error of that epoch or an older one, all of which are forgotten.
  status take(uint64_t until);

private:
  boxes& boxes_;
  std::atomic<uint64_t> epoch_{1};
  std::mutex mutex_; // of what follows
  std::deque<std::pair<uint64_t, status>> told_;
};

} // namespace troupe::gpu
