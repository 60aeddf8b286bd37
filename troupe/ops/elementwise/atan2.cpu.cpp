#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::atan2_cpu {
namespace {

struct angle_of_point {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& y, const T& x) const {
    return std::atan2(y, x);
  }
};

} // namespace

extern constexpr kernel_def atan2_cpu{
    .op = "Atan2",
    .run = binary_kernels<angle_of_point>(types::floating),
};

} // namespace troupe::ops::atan2_cpu
