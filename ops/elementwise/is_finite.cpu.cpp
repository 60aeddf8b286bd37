#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::is_finite_cpu {
namespace {

struct finite {
  template <class T>
  bool operator()(T x) const {
    return std::isfinite(x);
  }
};

struct infinite {
  template <class T>
  bool operator()(T x) const {
    return std::isinf(x);
  }
};

struct not_a_number {
  template <class T>
  bool operator()(T x) const {
    return std::isnan(x);
  }
};

} // namespace

extern constexpr kernel_def is_finite_cpu{
    .op = "IsFinite",
    .run = unary_kernels_to<bool, finite>(types::floating),
};

extern constexpr kernel_def is_inf_cpu{
    .op = "IsInf",
    .run = unary_kernels_to<bool, infinite>(types::floating),
};

extern constexpr kernel_def is_nan_cpu{
    .op = "IsNan",
    .run = unary_kernels_to<bool, not_a_number>(types::floating),
};

} // namespace troupe::ops::is_finite_cpu
