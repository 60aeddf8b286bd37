#include "troupe/ops/elementwise/shared/complex_parts.cpu.hpp"

namespace troupe::ops::complex_abs_cpu {
namespace {

struct modulus {
  static constexpr double cost = called;
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::abs(x);
  }
};

} // namespace

extern constexpr kernel_def complex_abs_cpu{
    .op = "ComplexAbs",
    .run = part_kernels<modulus>(types::complex),
};

} // namespace troupe::ops::complex_abs_cpu
