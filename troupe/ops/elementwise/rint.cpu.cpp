#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::rint_cpu {
namespace {

struct nearest_of {
  template <class T>
  T operator()(T x) const {
    return std::rint(x);
  }
};

} // namespace

extern constexpr kernel_def rint_cpu{
    .op = "Rint",
    .run = unary_kernels<nearest_of>(types::floating),
};

} // namespace troupe::ops::rint_cpu
