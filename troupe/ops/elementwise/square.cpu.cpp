#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::square_cpu {
namespace {

struct squared {
  template <class T>
  T operator()(const T& x) const {
    return wrapping(std::multiplies<>{}, x, x);
  }
};

} // namespace

extern constexpr kernel_def square_cpu{
    .op = "Square",
    .run = unary_kernels<squared>(types::numbers),
};

} // namespace troupe::ops::square_cpu
