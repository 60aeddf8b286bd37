// What the kernels of random ops share: a stream of numbers for each node, and its distribution.
#pragma once
#include "troupe/devices/deterministic.hpp"
#include "troupe/ops/element_types.hpp"
#include "troupe/ops/random/philox.hpp"
#include "troupe/runtime/graph.hpp"
#include "troupe/runtime/infer.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numbers>
#include <random>

namespace troupe::ops {

/// Shared by all steps that run the node: each run takes the blocks that come next.
class random_stream {
public:
  explicit random_stream(philox numbers) : numbers_(numbers) {}

  const philox& numbers() const noexcept { return numbers_; }
  uint64_t take(uint64_t blocks) noexcept {
    return next_.fetch_add(blocks, std::memory_order_relaxed);
  }

private:
  const philox numbers_;
  std::atomic<uint64_t> next_{0};
};

/// The numbers that a node's seeds choose.
inline philox chosen_numbers(const kernel_setup& setup) {
  auto seed = static_cast<uint64_t>(setup.of.attr<int64_t>("seed"));
  auto seed2 = static_cast<uint64_t>(setup.of.attr<int64_t>("seed2"));
  if (seed == 0 && seed2 == 0 && is_deterministic(setup.on)) {
    // No seed was chosen, and none may be drawn: the node's name stands for one.
    seed = 0xcbf29ce484222325; // FNV-1a: the same wherever the program runs
    for (unsigned char letter : setup.of.name())
      seed = (seed ^ letter) * 0x100000001b3;
  } else if (seed == 0 && seed2 == 0) {
    std::random_device device;
    seed = uint64_t{device()} << 32 | device();
    seed2 = uint64_t{device()} << 32 | device();
  }
  return philox{seed, seed2};
}

inline result<std::shared_ptr<void>> prepare_stream(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<random_stream>(chosen_numbers(setup))};
}

/// From [0, 1), evenly: as many bits as T's fraction has.
template <class T>
T uniform(uint64_t bits) {
  if constexpr (std::is_same_v<T, double>)
    return static_cast<double>(bits >> 11) * 0x1p-53;
  else if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(static_cast<uint32_t>(bits) >> 8) * 0x1p-24f;
  else if constexpr (std::is_same_v<T, float16>)
    return float16{static_cast<float>(static_cast<uint32_t>(bits) >> 21) * 0x1p-11f};
  else
    return bfloat16{static_cast<float>(static_cast<uint32_t>(bits) >> 24) * 0x1p-8f};
}

inline uint64_t joined(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }

/// A pair of independent standard normal numbers (Box and Muller 1958).
template <class T>
std::pair<T, T> normal_pair(uint64_t first, uint64_t second) {
  auto radius = std::sqrt(T{-2} * std::log(T{1} - uniform<T>(first))); // of (0, 1]
  auto angle = T{2} * std::numbers::pi_v<T> * uniform<T>(second);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

/// The normal numbers of one block: four of float, or two of double.
template <class C>
auto normal_block(const philox::block& words) {
  if constexpr (std::is_same_v<C, double>) {
    auto [a, b] = normal_pair<double>(joined(words[0], words[1]), joined(words[2], words[3]));
    return std::array{a, b};
  } else {
    auto [a, b] = normal_pair<float>(words[0], words[1]);
    auto [c, d] = normal_pair<float>(words[2], words[3]);
    return std::array{a, b, c, d};
  }
}

/// How many elements of T a block gives: doubles take two words.
template <class T>
inline constexpr size_t per_block = sizeof(T) == 8 ? 2 : 4;

/// How many blocks so many elements take.
inline int64_t blocks_for(int64_t elements, size_t each) {
  auto per = static_cast<int64_t>(each);
  return elements / per + (elements % per != 0);
}

/// The shape that input i lists.
inline result<shape> drawn_shape(const kernel_context& at, int i = 0) {
  if (at.input(i).rank() != 1)
    return invalid("shape must be a vector, got shape ", at.input(i).dims());
  return shape::make(to_integers(at.input(i)));
}

/// Fills the output with `draw(numbers, index)`, an array of elements for each block.
template <class T, size_t PerBlock, class Draw>
void fill_from(kernel_context& at, tensor& out, const philox& numbers, uint64_t first,
               double nanoseconds_per_block, Draw draw) {
  constexpr auto per_block = static_cast<int64_t>(PerBlock);
  auto elements = out.elements();
  auto* to = out.data<T>();
  at.parallel_for(
      blocks_for(elements, PerBlock), nanoseconds_per_block, [&](int64_t begin, int64_t end) {
        for (auto i = begin; i < end; ++i) {
          std::array<T, PerBlock> drawn = draw(numbers, first + static_cast<uint64_t>(i));
          std::copy_n(drawn.begin(), std::min(per_block, elements - i * per_block),
                      to + i * per_block);
        }
      });
}

/// Fills output 0, whose shape input 0 lists, with what comes next in the node's stream.
template <class T, size_t PerBlock, class Draw>
status fill_random(kernel_context& at, double nanoseconds_per_block, Draw draw) {
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto& stream = at.state<random_stream>();
  auto first = stream.take(static_cast<uint64_t>(blocks_for(dims.elements(), PerBlock)));
  fill_from<T, PerBlock>(at, *out, stream.numbers(), first, nanoseconds_per_block, draw);
  return {};
}

} // namespace troupe::ops
