#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::sign_cpu {
namespace {

struct absolute {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x < 0 ? wrapping(std::minus<>{}, T{0}, x) : x;
    else
      return std::abs(x);
  }
};

struct negative {
  template <class T>
  T operator()(const T& x) const {
    if constexpr (std::is_integral_v<T>)
      return wrapping(std::minus<>{}, T{0}, x);
    else
      return -x; // 0 - x would lose the sign of zero
  }
};

struct signum {
  template <class T>
  T operator()(const T& x) const {
    if constexpr (is_complex<T>)
      return x == T{} ? x : x / std::abs(x);
    else
      return x > 0 ? T{1} : x < 0 ? T{-1} : x;
  }
};

} // namespace

extern constexpr kernel_def abs_cpu{
    .op = "Abs",
    .run = unary_kernels<absolute>(types::floating + types::signed_integers),
};

extern constexpr kernel_def neg_cpu{
    .op = "Neg",
    .run = unary_kernels<negative>(types::floating + types::complex + types::signed_integers),
};

extern constexpr kernel_def sign_cpu{
    .op = "Sign",
    .run = unary_kernels<signum>(types::floating + types::complex + types::signed_integers),
};

} // namespace troupe::ops::sign_cpu
