#include "troupe/ops/elementwise/shared/argument_checks.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::pow_cpu {
namespace {

struct power {
  static constexpr double cost = called;
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      T product = 1;
      for (; y > 0; y = static_cast<T>(y / 2), x = wrapping(std::multiplies<>{}, x, x))
        if (y % 2 == 1)
          product = wrapping(std::multiplies<>{}, product, x);
      return product;
    } else {
      return std::pow(x, y);
    }
  }
};

template <class T>
status raise(kernel_context& at) {
  if constexpr (std::is_integral_v<T>)
    if (at.input(0).elements() > 0 &&
        std::ranges::any_of(at.input(1).values<T>(), negative_power::refuses<T>))
      return invalid(negative_power::text);
  return binary<T, power>(at);
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {std::is_integral_v<Ts> ? typed_kernel{dtype_of<Ts>, raise<Ts>} // may fail
                                 : binary_kernel<Ts, power>(raise<Ts>)...};
}

} // namespace

extern constexpr kernel_def pow_cpu{
    .op = "Pow",
    .run = kernels(types::floating + types::complex + types::signed_integers),
};

} // namespace troupe::ops::pow_cpu
