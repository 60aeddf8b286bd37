// Distributions with parameters, drawn by rejection. Each element has its own sequence of random
// numbers, so that the output does not depend on the division of the work.
#pragma once
#include "troupe/ops/random/shared/distributions.hpp"

#include <limits>

namespace troupe::ops {

/// The sequence of random numbers of one element.
class number_source {
public:
  constexpr number_source(const philox& numbers, uint64_t index)
      : numbers_(numbers), index_(index) {}

  /// Uniform in [0, 1).
  constexpr double uniform() {
    if (unused_pairs_ == 0) {
      block_ = numbers_(index_, attempt_++);
      unused_pairs_ = 2;
    }
    --unused_pairs_;
    return even<double>(joined(block_[2 * unused_pairs_], block_[2 * unused_pairs_ + 1]));
  }
  /// Normal, with mean 0 and variance 1.
  constexpr double normal() {
    auto radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }

private:
  const philox numbers_;
  const uint64_t index_;
  uint32_t attempt_ = 0;
  philox::block block_{};
  size_t unused_pairs_ = 0;
};

/// Whether a parameter is positive and finite; for the second function, it may be 0.
constexpr bool is_positive(double x) { return x > 0 && x <= std::numeric_limits<double>::max(); }
constexpr bool is_rate(double x) { return x >= 0 && x <= std::numeric_limits<double>::max(); }

/// A number with the gamma distribution of that alpha, and beta = 1: Marsaglia and Tsang, "A Simple
/// Method for Generating Gamma Variables", 2000.
constexpr double drawn_gamma(number_source& numbers, double alpha) {
  double scale = 1;
  if (alpha < 1) { // draws for alpha + 1 and scales the number
    scale = std::pow(1 - numbers.uniform(), 1 / alpha);
    alpha += 1;
  }
  const auto d = alpha - 1.0 / 3, c = 1 / (3 * std::sqrt(d));
  while (true) {
    auto x = numbers.normal(), root = 1 + c * x, v = root * root * root;
    if (v <= 0)
      continue;
    if (std::log(1 - numbers.uniform()) < x * x / 2 + d * (1 - v + std::log(v)))
      return scale * (d * v);
  }
}

/// A number with the Poisson distribution of that rate. `log_gamma` is the logarithm of the gamma
/// function.
template <class LogGamma>
constexpr double drawn_poisson(number_source& numbers, double rate, LogGamma log_gamma) {
  if (rate < 10) { // counts uniformly distributed events in an interval (Knuth)
    auto end = std::exp(-rate), at = 1 - numbers.uniform();
    double events = 0;
    for (; at > end; ++events)
      at *= 1 - numbers.uniform();
    return events;
  }
  // Hoermann, "The transformed rejection method for generating Poisson random variables", 1993:
  // algorithm PTRS.
  const auto b = 0.931 + 2.53 * std::sqrt(rate), a = -0.059 + 0.02483 * b;
  const auto inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), sure = 0.9277 - 3.6224 / (b - 2);
  const auto log_rate = std::log(rate);
  while (true) {
    auto u = numbers.uniform() - 0.5, v = numbers.uniform(), tail = 0.5 - std::abs(u);
    auto events = std::floor((2 * a / tail + b) * u + rate + 0.43);
    if (tail >= 0.07 && v <= sure)
      return events;
    if (!(events >= 0) || (tail < 0.013 && v > tail))
      continue;
    if (std::log(v * inverse_alpha / (a / (tail * tail) + b)) <=
        events * log_rate - rate - log_gamma(events + 1))
      return events;
  }
}

/// A normal distribution truncated to two bounds, either of which may be infinite.
struct bounded_normal {
  double mean, deviation, least, greatest;

  constexpr bool valid() const {
    constexpr auto max_double = std::numeric_limits<double>::max();
    return is_positive(deviation) && mean >= -max_double && mean <= max_double &&
           least < greatest && least <= max_double && greatest >= -max_double;
  }
};

/// A standard normal number in [from, to] with from >= -to. Each of the three methods accepts at
/// least every fourth number (Robert, "Simulation of Truncated Normal Variables", 1995). After this
/// many attempts, the interval is too narrow for the precision of numbers.
constexpr double drawn_within(number_source& numbers, double from, double to) {
  constexpr int max_tries = 200;
  const auto root = std::sqrt(from * from + 4), rate = (from + root) / 2;
  const auto wide =
      from > 0 ? 2 * std::sqrt(std::numbers::e) / (from + root) * std::exp(from * (from - root) / 4)
               : std::sqrt(2 * std::numbers::pi);
  for (int i = 0; i < max_tries; ++i) {
    if (to - from <= wide) {
      auto x = from + (to - from) * numbers.uniform(), top = from > 0 ? from : 0.0;
      if (numbers.uniform() < std::exp((top - x) * (top + x) / 2))
        return x;
    } else if (from > 0) { // the tail is nearly exponential
      auto x = from - std::log(1 - numbers.uniform()) / rate;
      if (numbers.uniform() < std::exp(-(x - rate) * (x - rate) / 2) && x <= to)
        return x;
    } else if (auto x = numbers.normal(); x >= from && x <= to) {
      return x;
    }
  }
  return from > 0 ? from : 0.0;
}

constexpr double drawn_between(number_source& numbers, const bounded_normal& normal) {
  auto from = (normal.least - normal.mean) / normal.deviation,
       to = (normal.greatest - normal.mean) / normal.deviation;
  auto z = from >= -to ? drawn_within(numbers, from, to) : -drawn_within(numbers, -to, -from);
  auto x = normal.mean + normal.deviation * z;
  return x < normal.least ? normal.least : x > normal.greatest ? normal.greatest : x;
}

/// The nearest number of type T; the largest finite number for values beyond.
template <class T>
constexpr compute_type<T> nearest(double x) {
  if constexpr (std::is_integral_v<T>)
    return x < static_cast<double>(std::numeric_limits<T>::max()) ? static_cast<T>(x)
                                                                  : std::numeric_limits<T>::max();
  else
    return static_cast<compute_type<T>>(x);
}

} // namespace troupe::ops
