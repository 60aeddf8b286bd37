// A stream of random numbers for each node, whatever device draws from it.
#pragma once
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/ops/random/shared/philox.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <atomic>
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
  if (seed == 0 && seed2 == 0 && setup.on.deterministic()) {
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

/// The shape that input i lists.
inline result<shape> drawn_shape(const kernel_context& at, int i = 0) {
  if (at.input(i).rank() != 1)
    return invalid("shape must be a vector, got shape ", at.input(i).dims());
  return shape::make(to_integers(at.input(i)));
}

inline status check_seeds(const tensor& seeds) {
  if (seeds.rank() == 1 && seeds.elements() == 2)
    return {};
  return invalid("seed must be a vector of two, got shape ", seeds.dims());
}

} // namespace troupe::ops
