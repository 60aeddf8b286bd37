// What the kernels of candidate samplers share: they draw classes from a distribution over
// [0, range), and say how often each class is to be expected among them.
#pragma once
#include "troupe/runtime/graph/kernel.hpp"

#include <memory>
#include <span>

namespace troupe::ops {

/// A distribution over classes.
class class_distribution {
public:
  virtual ~class_distribution() = default;
  virtual int64_t range() const = 0;
  /// Draws a class with 64 random bits.
  virtual int64_t draw(uint64_t bits) const = 0;
  /// How likely it is that `draw` gives the class, which is in range.
  virtual double probability(int64_t of) const = 0;
  /// Says what classes there were, to those that learn.
  virtual void see(std::span<const int64_t>) {}
};

/// A whole number below the bound, evenly but for less than bound in 2^64.
inline int64_t below(int64_t bound, uint64_t bits) {
  return static_cast<int64_t>(bits % static_cast<uint64_t>(bound));
}

/// Makes what a node keeps between its runs. Fails where it could not sample so many unique
/// classes.
result<std::shared_ptr<void>> make_sampler(const kernel_setup& setup,
                                           std::unique_ptr<class_distribution> from);

/// Of what it made: where the numbers stand that it draws by. What it has learned is not kept.
extern const kernel_position sampler_position;

/// The kernel of all samplers.
status run_sampler(kernel_context& at);

} // namespace troupe::ops
