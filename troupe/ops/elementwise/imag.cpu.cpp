#include "troupe/ops/elementwise/shared/complex_parts.cpu.hpp"

namespace troupe::ops::imag_cpu {
namespace {

struct imaginary_part {
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::imag(x);
  }
};

} // namespace

extern constexpr kernel_def imag_cpu{
    .op = "Imag",
    .run = part_kernels<imaginary_part>(types::complex),
};

} // namespace troupe::ops::imag_cpu
