#include "troupe/ops/elementwise/shared/argument_checks.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.cpu.hpp"

#include <cmath>

namespace troupe::ops::power_cpu {
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

struct squared {
  template <class T>
  T operator()(const T& x) const {
    return wrapping(std::multiplies<>{}, x, x);
  }
};

struct squared_distance {
  template <class T>
  T operator()(const T& a, const T& b) const {
    auto d = wrapping(std::minus<>{}, a, b);
    if constexpr (is_complex<T>)
      return std::norm(d);
    else
      return wrapping(std::multiplies<>{}, d, d);
  }
};

struct root {
  template <class T>
  T operator()(const T& x) const {
    return std::sqrt(x);
  }
};

struct root_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    return dy == T{} ? T{} : T(0.5) * dy / conjugate_of(y);
  }
};

struct reciprocal_root {
  template <class T>
  T operator()(const T& x) const {
    return T{1} / std::sqrt(x);
  }
};

struct reciprocal_root_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    auto z = conjugate_of(y);
    return dy == T{} ? T{} : T(-0.5) * (dy * z) * (z * z);
  }
};

} // namespace

extern constexpr kernel_def pow_cpu{
    .op = "Pow",
    .run = kernels(types::floating + types::complex + types::signed_integers),
};

extern constexpr kernel_def square_cpu{
    .op = "Square",
    .run = unary_kernels<squared>(types::numbers),
};

extern constexpr kernel_def squared_difference_cpu{
    .op = "SquaredDifference",
    .run = binary_kernels<squared_distance>(types::floating + types::complex +
                                            type_list<int32_t, int64_t>{}),
};

extern constexpr kernel_def sqrt_cpu{
    .op = "Sqrt",
    .run = unary_kernels<root>(types::floating + types::complex),
};

extern constexpr kernel_def sqrt_grad_cpu{
    .op = "SqrtGrad",
    .run = paired_kernels<root_slope>(types::floating + types::complex),
};

extern constexpr kernel_def rsqrt_cpu{
    .op = "Rsqrt",
    .run = unary_kernels<reciprocal_root>(types::floating + types::complex),
};

extern constexpr kernel_def rsqrt_grad_cpu{
    .op = "RsqrtGrad",
    .run = paired_kernels<reciprocal_root_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::power_cpu
