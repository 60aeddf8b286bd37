// Distributions without parameters: they map a block of random words to numbers, on all devices. On
// GPUs logarithms, sines and cosines may differ in the last bits; the other operations agree.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/random/shared/philox.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

namespace troupe::ops {

/// Uniform in [0, 1), with as many bits as T's fraction has.
template <class T>
constexpr compute_type<T> even(uint64_t bits) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(bits >> 11) * 0x1p-53;
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(static_cast<uint32_t>(bits) >> 8) * 0x1p-24f;
  else if constexpr (std::is_same_v<T, float16>)
    return static_cast<float>(static_cast<uint32_t>(bits) >> 21) * 0x1p-11f;
  else
    return static_cast<float>(static_cast<uint32_t>(bits) >> 24) * 0x1p-8f;
}

constexpr uint64_t joined(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

/// A pair of independent standard normal numbers (Box and Muller 1958).
template <class T>
constexpr std::pair<T, T> normal_pair(uint64_t first, uint64_t second) {
  auto radius = std::sqrt(T{-2} * std::log(T{1} - even<T>(first))); // the argument is in (0, 1]
  auto angle = T{2} * std::numbers::pi_v<T> * even<T>(second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// The normal numbers of one block: four of float, or two of double.
template <class C>
constexpr auto normal_block(const philox::block& words) {
  if constexpr (std::is_same_v<C, double>) {
    auto [a, b] = normal_pair<double>(joined(words[0], words[1]), joined(words[2], words[3]));
    return std::array{a, b};
  } else {
    auto [a, b] = normal_pair<float>(words[0], words[1]);
    auto [c, d] = normal_pair<float>(words[2], words[3]);
    return std::array{a, b, c, d};
  }
}

/// The number of elements of T per block; doubles take two words.
template <class T>
inline constexpr size_t per_block = sizeof(T) == 8 ? 2 : 4;

/// The number of blocks for this many elements.
constexpr int64_t blocks_for(int64_t elements, size_t per_block_count) {
  auto per = static_cast<int64_t>(per_block_count);
  return elements / per + (elements % per != 0);
}

/// Maps a block of random words to elements of T, not yet rounded to T.
template <class T>
using drawn_block = std::array<compute_type<T>, per_block<T>>;

template <class T>
struct uniform_draw {
  static constexpr double cost = 10; // nanoseconds per block
  constexpr drawn_block<T> operator()(const philox& numbers, uint64_t index) const {
    auto x = numbers(index);
    if constexpr (per_block<T> == 2)
      return {even<T>(joined(x[0], x[1])), even<T>(joined(x[2], x[3]))};
    else
      return {even<T>(x[0]), even<T>(x[1]), even<T>(x[2]), even<T>(x[3])};
  }
};

template <class T>
struct normal_draw {
  static constexpr double cost = 60;
  constexpr drawn_block<T> operator()(const philox& numbers, uint64_t index) const {
    return normal_block<compute_type<T>>(numbers(index));
  }
};

/// Truncated normal numbers: draws again where a number is beyond 2.
template <class T>
struct truncated_normal_draw {
  static constexpr double cost = 80;
  // One number in 22 is beyond 2; after this many attempts, one in 10^27 still is.
  static constexpr uint32_t max_attempts = 20;
  constexpr drawn_block<T> operator()(const philox& numbers, uint64_t index) const {
    drawn_block<T> out{};
    std::array<bool, per_block<T>> accepted{};
    size_t missing = out.size();
    for (uint32_t attempt = 0; missing != 0 && attempt < max_attempts; ++attempt) {
      auto normals = normal_block<compute_type<T>>(numbers(index, attempt));
      for (size_t i = 0; i < out.size(); ++i)
        if (!accepted[i] && std::abs(normals[i]) < 2) {
          out[i] = normals[i];
          accepted[i] = true;
          --missing;
        }
    }
    return out;
  }
};

} // namespace troupe::ops
