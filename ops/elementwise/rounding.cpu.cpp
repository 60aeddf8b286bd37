#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::rounding_cpu {
namespace {

struct ceil_of {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};

struct floor_of {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};

struct nearest_of {
  template <class T>
  T operator()(T x) const {
    return std::rint(x);
  }
};

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

extern constexpr kernel_def ceil_cpu{
    .op = "Ceil",
    .run = unary_kernels<ceil_of>(types::floating),
};

extern constexpr kernel_def floor_cpu{
    .op = "Floor",
    .run = unary_kernels<floor_of>(types::floating),
};

extern constexpr kernel_def rint_cpu{
    .op = "Rint",
    .run = unary_kernels<nearest_of>(types::floating),
};

extern constexpr kernel_def round_cpu{
    .op = "Round",
    .run = unary_kernels<rounded>(types::floating + types::signed_integers),
};

} // namespace troupe::ops::rounding_cpu
