// Random numbers that are determined by the seed.
#pragma once
#include "tests/simulate/virtual_time.hpp"

#include <cstdint>
#include <string_view>

namespace troupe::simulate {

/// Streams with different names are independent: drawing fewer numbers from one does not change the
/// others.
class dice {
public:
  dice(uint64_t seed, std::string_view stream) : state_(seed * 0x9e3779b97f4a7c15) {
    for (char letter : stream)
      state_ = (state_ ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
    roll();
  }

  uint64_t roll() noexcept { // splitmix64
    auto z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// In [0, n).
  uint64_t below(uint64_t n) noexcept { return n < 2 ? 0 : roll() % n; }
  int64_t between(int64_t lowest, int64_t highest) noexcept {
    return lowest + static_cast<int64_t>(below(static_cast<uint64_t>(highest - lowest + 1)));
  }
  duration between(duration lowest, duration highest) noexcept {
    return duration{between(lowest.count(), highest.count())};
  }
  bool permille(int64_t p) noexcept { return static_cast<int64_t>(below(1000)) < p; }

private:
  uint64_t state_;
};

} // namespace troupe::simulate
