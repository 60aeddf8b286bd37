// The kernels of RandomPoisson and RandomPoissonV2.
#pragma once
#include "troupe/ops/random/shared/rejection.cpu.hpp"

#include <math.h> // lgamma_r: std::lgamma writes to a global variable

namespace troupe::ops {

template <class T>
status draw_poisson(kernel_context& at) {
  TROUPE_ASSIGN(auto rates, as_doubles(at.input(1), at.memory()));
  for (auto rate : rates.template values<double>())
    if (!is_rate(rate))
      return invalid("a rate must be finite and not negative, got ", rate);
  return draw_for_each<T>(at, 150, [](number_source& numbers, double rate) {
    return drawn_poisson(numbers, rate, [](double x) {
      int sign = 0;
      return ::lgamma_r(x, &sign);
    });
  });
}

} // namespace troupe::ops
