#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::minimum_cpu {
namespace {

struct smaller {
  template <class T>
  T operator()(T a, T b) const {
    return a < b || is_nan(a) ? a : b;
  }
};

} // namespace

extern constexpr kernel_def minimum_cpu{
    .op = "Minimum",
    .run = binary_kernels<smaller>(types::real_numbers),
};

} // namespace troupe::ops::minimum_cpu
