#include "troupe/ops/elementwise/shared/complex_parts.cpu.hpp"

namespace troupe::ops::real_cpu {
namespace {

struct real_part {
  template <class T>
  T operator()(const std::complex<T>& x) const {
    return std::real(x);
  }
};

} // namespace

extern constexpr kernel_def real_cpu{
    .op = "Real",
    .run = part_kernels<real_part>(types::complex),
};

} // namespace troupe::ops::real_cpu
