// Uniform integers in a range, on all devices.
#pragma once
#include "troupe/ops/random/shared/distributions.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// Uniform in [from, to).
template <class T>
struct integer_draw {
  T from, to;
  constexpr std::array<T, 2> operator()(const philox& numbers, uint64_t index) const {
    // Unsigned: the range may exceed T.
    auto start = static_cast<uint64_t>(from);
    auto range = static_cast<uint64_t>(to) - start;
    auto x = numbers(index);
    return {static_cast<T>(start + joined(x[0], x[1]) % range),
            static_cast<T>(start + joined(x[2], x[3]) % range)};
  }
};

/// The range is given by inputs 1 and 2.
inline status check_range(const kernel_context& at) {
  const auto &lowest = at.input(1), &bound = at.input(2);
  if (lowest.rank() == 0 && bound.rank() == 0)
    return {};
  return invalid("minval and maxval must be scalars, got shapes ", lowest.dims(), " and ",
                 bound.dims());
}

} // namespace troupe::ops
