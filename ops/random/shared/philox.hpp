// Counter-based random numbers: each element of a stream can be computed directly, so threads can
// divide a tensor in any way without changing the numbers.
#pragma once
#include <array>
#include <cstdint>

namespace troupe::ops {

/// Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011). The key
/// and the upper half of the counter are the two seeds, as in TensorFlow; the lower half counts
/// blocks.
class philox {
public:
  using block = std::array<uint32_t, 4>;

  constexpr philox(uint64_t seed, uint64_t seed2) : key_(seed), upper_(seed2) {}

  /// Four words. `attempt` selects other words for the same position, for methods that reject some.
  constexpr block operator()(uint64_t index, uint32_t attempt = 0) const {
    block x{low(index), high(index), low(upper_), high(upper_)};
    auto key0 = low(key_), key1 = high(key_) + attempt * 0x632BE5ABu;
    for (int round = 0; round < 10; ++round) {
      auto product0 = uint64_t{0xD2511F53u} * x[0], product1 = uint64_t{0xCD9E8D57u} * x[2];
      x = {high(product1) ^ x[1] ^ key0, low(product1), high(product0) ^ x[3] ^ key1,
           low(product0)};
      key0 += 0x9E3779B9u;
      key1 += 0xBB67AE85u;
    }
    return x;
  }

private:
  static constexpr uint32_t low(uint64_t x) { return static_cast<uint32_t>(x); }
  static constexpr uint32_t high(uint64_t x) { return static_cast<uint32_t>(x >> 32); }

  uint64_t key_, upper_;
};

} // namespace troupe::ops
