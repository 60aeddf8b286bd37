#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::maximum_cpu {
namespace {

struct larger {
  template <class T>
  T operator()(T a, T b) const {
    return a > b || is_nan(a) ? a : b;
  }
};

} // namespace

extern constexpr kernel_def maximum_cpu{
    .op = "Maximum",
    .run = binary_kernels<larger>(types::real_numbers),
};

} // namespace troupe::ops::maximum_cpu
