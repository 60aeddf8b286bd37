// How many steps a task has run, how they ended, and how long they took.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace troupe {

/// Any thread may call; what is read is no older than the call, and not of one moment.
class step_counts {
public:
  static constexpr size_t kinds = 16; ///< of error_kind
  /// Upper bounds of the classes of durations, in seconds; longer ones have a class of their own.
  static constexpr std::array<double, 14> bounds = {1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2,
                                                    3e-2, 1e-1, 3e-1, 1,    3,    10,   60};

  void refused(error_kind why) noexcept { add(refused_[index_of(why)]); }
  void ended(error_kind how, std::chrono::nanoseconds took) noexcept {
    add(ended_[index_of(how)]);
    auto seconds = std::chrono::duration<double>(took).count();
    size_t place = 0;
    while (place < bounds.size() && seconds > bounds[place])
      ++place;
    add(classes_[place]);
    nanoseconds_.fetch_add(static_cast<uint64_t>(took.count()), std::memory_order_relaxed);
  }

  uint64_t refused_with(error_kind why) const noexcept { return read(refused_[index_of(why)]); }
  uint64_t ended_with(error_kind how) const noexcept { return read(ended_[index_of(how)]); }
  uint64_t in_class(size_t place) const noexcept { return read(classes_[place]); }
  double seconds() const noexcept { return static_cast<double>(read(nanoseconds_)) * 1e-9; }

private:
  using counter = std::atomic<uint64_t>;
  static size_t index_of(error_kind kind) noexcept { return static_cast<size_t>(kind) % kinds; }
  static void add(counter& to) noexcept { to.fetch_add(1, std::memory_order_relaxed); }
  static uint64_t read(const counter& from) noexcept {
    return from.load(std::memory_order_relaxed);
  }

  std::array<counter, kinds> refused_{}, ended_{};
  std::array<counter, bounds.size() + 1> classes_{};
  counter nanoseconds_{0};
};

} // namespace troupe
