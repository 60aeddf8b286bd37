// Shared by the kernels of candidate samplers: they draw classes from a distribution over [0,
// range), and return the expected count of each class.
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
  /// The probability that `draw` returns the class, which must be in range.
  virtual double probability(int64_t class_number) const = 0;
  /// Passes observed classes to distributions that learn.
  virtual void see(std::span<const int64_t>) {}
};

/// An integer below the bound; the bias towards some integers is less than bound / 2^64.
inline int64_t below(int64_t bound, uint64_t bits) {
  return static_cast<int64_t>(bits % static_cast<uint64_t>(bound));
}

/// Makes the state that a node keeps across its runs. Fails where it could not sample this many
/// unique classes.
result<std::shared_ptr<void>> make_sampler(const kernel_setup& setup,
                                           std::unique_ptr<class_distribution> from);

/// Saves and restores the position in the node's stream. Learned counts are not saved.
extern const kernel_state_format sampler_position;

/// The kernel of all samplers.
status run_sampler(kernel_context& at);

} // namespace troupe::ops
