// The stream of random numbers of a node, independent of the device.
#pragma once
#include "troupe/devices/deterministic/deterministic.hpp"
#include "troupe/ops/random/shared/philox.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <array>
#include <atomic>
#include <random>
#include <string>

namespace troupe::ops {

/// The position of a stream of random numbers: its seeds, and the count of numbers taken, in blocks
/// or in the owner's unit.
struct stream_place {
  uint64_t seed = 0, seed2 = 0, next = 0;

  philox numbers() const noexcept { return {seed, seed2}; }
  /// The text that checkpoints contain.
  std::string text() const;
  static result<stream_place> parse(std::string_view text);
};

/// The start of a node's stream.
stream_place chosen_place(const kernel_setup& setup);

/// Shared by all steps that run the node: each run takes the next blocks.
class random_stream {
public:
  explicit random_stream(const stream_place& from) { go_to(from); }

  philox numbers() const noexcept {
    return {seed_.load(std::memory_order_relaxed), seed2_.load(std::memory_order_relaxed)};
  }
  uint64_t take(uint64_t blocks) noexcept {
    return next_.fetch_add(blocks, std::memory_order_relaxed);
  }

  stream_place place() const noexcept { return {seed_, seed2_, next_}; }
  /// Concurrent runs may draw numbers from before or after the change.
  void go_to(const stream_place& place) noexcept {
    seed_ = place.seed;
    seed2_ = place.seed2;
    next_ = place.next;
  }

private:
  std::atomic<uint64_t> seed_, seed2_, next_;
};

/// For kernel_def, of kernels whose state is a random_stream.
result<std::shared_ptr<void>> prepare_stream(const kernel_setup& setup);
extern const kernel_state_format stream_position;

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
