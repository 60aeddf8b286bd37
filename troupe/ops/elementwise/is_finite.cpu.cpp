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

} // namespace

extern constexpr kernel_def is_finite_cpu{
    .op = "IsFinite",
    .run = unary_kernels_to<bool, finite>(types::floating),
};

} // namespace troupe::ops::is_finite_cpu
