#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::ceil_cpu {
namespace {

struct ceil_of {
  template <class T>
  T operator()(T x) const {
    return std::ceil(x);
  }
};

} // namespace

extern constexpr kernel_def ceil_cpu{
    .op = "Ceil",
    .run = unary_kernels<ceil_of>(types::floating),
};

} // namespace troupe::ops::ceil_cpu
