#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::mul_cpu {
namespace {

struct times {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return wrapping(std::multiplies<>{}, a, b);
  }
};

} // namespace

extern constexpr kernel_def mul_cpu{
    .op = "Mul",
    .run = binary_kernels<times>(types::numbers),
};

} // namespace troupe::ops::mul_cpu
