// The kernels of RandomPoisson and RandomPoissonV2.
#pragma once
#include "troupe/ops/random/rejection.cpu.hpp"

#include <math.h> // lgamma_r: std::lgamma writes to a global variable

namespace troupe::ops {

inline double poisson(number_source& numbers, double rate) {
  if (rate < 10) { // events, evenly distributed in time, until time is up (Knuth)
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
    int sign = 0;
    if (std::log(v * inverse_alpha / (a / (tail * tail) + b)) <=
        events * log_rate - rate - ::lgamma_r(events + 1, &sign))
      return events;
  }
}

template <class T>
status draw_poisson(kernel_context& at) {
  TROUPE_ASSIGN(auto rates, as_doubles(at.input(1), at.memory()));
  for (auto rate : rates.template values<double>())
    if (!(rate >= 0 && std::isfinite(rate)))
      return invalid("a rate must be finite and not negative, got ", rate);
  return draw_for_each<T>(at, 150, poisson);
}

} // namespace troupe::ops
