#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::round_cpu {
namespace {

struct rounded {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_integral_v<T>)
      return x;
    else
      return std::rint(x);
  }
};

} // namespace

extern constexpr kernel_def round_cpu{
    .op = "Round",
    .run = unary_kernels<rounded>(types::floating + types::signed_integers),
};

} // namespace troupe::ops::round_cpu
