// Counts the steps of a task by outcome and by duration.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace troupe {

/// Any thread may call. A reading may be newer than the call, and two readings are not one
/// snapshot.
class step_counts {
public:
  static constexpr size_t kinds = 16; ///< at least the number of values of error_kind
  /// Upper bounds of the histogram's buckets, in seconds; the last bucket has no bound.
  static constexpr std::array<double, 14> bounds = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2,
                                                    3e-2, 1e-1, 3e-1, 1,    3,    10,   60};

  void count_refused(error_kind kind) noexcept { add(refused_[index_of(kind)]); }
  void count_ended(error_kind kind, std::chrono::nanoseconds duration) noexcept {
    add(ended_[index_of(kind)]);
    auto seconds = std::chrono::duration<double>(duration).count();
    size_t bucket = 0;
    while (bucket < bounds.size() && seconds > bounds[bucket])
      ++bucket;
    add(buckets_[bucket]);
    nanoseconds_.fetch_add(static_cast<uint64_t>(duration.count()), std::memory_order_relaxed);
  }

  uint64_t refused_with(error_kind kind) const noexcept { return read(refused_[index_of(kind)]); }
  uint64_t ended_with(error_kind kind) const noexcept { return read(ended_[index_of(kind)]); }
  uint64_t in_bucket(size_t bucket) const noexcept { return read(buckets_[bucket]); }
  double total_seconds() const noexcept { return static_cast<double>(read(nanoseconds_)) * 1e-9; }

private:
  using counter = std::atomic<uint64_t>;
  static size_t index_of(error_kind kind) noexcept { return static_cast<size_t>(kind) % kinds; }
  static void add(counter& value) noexcept { value.fetch_add(1, std::memory_order_relaxed); }
  static uint64_t read(const counter& value) noexcept {
    return value.load(std::memory_order_relaxed);
  }

  std::array<counter, kinds> refused_{}, ended_{};
  std::array<counter, bounds.size() + 1> buckets_{};
  counter nanoseconds_{0};
};

} // namespace troupe
