#include "troupe/ops/elementwise/shared/complex_parts.cpu.hpp"

namespace troupe::ops::angle_cpu {
namespace {

struct argument {
  static constexpr double cost = called;
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::arg(x);
  }
};

} // namespace

extern constexpr kernel_def angle_cpu{
    .op = "Angle",
    .run = part_kernels<argument>(types::complex),
};

} // namespace troupe::ops::angle_cpu
