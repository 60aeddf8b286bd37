#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::is_nan_cpu {
namespace {

struct not_a_number {
  template <class T>
  bool operator()(T x) const {
    return std::isnan(x);
  }
};

} // namespace

extern constexpr kernel_def is_nan_cpu{
    .op = "IsNan",
    .run = unary_kernels_to<bool, not_a_number>(types::floating),
};

} // namespace troupe::ops::is_nan_cpu
