#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::sign_cpu {
namespace {

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

extern constexpr kernel_def sign_cpu{
    .op = "Sign",
    .run = unary_kernels<signum>(types::floating + types::complex + types::signed_integers),
};

} // namespace troupe::ops::sign_cpu
