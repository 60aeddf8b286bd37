#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::floor_cpu {
namespace {

struct floor_of {
  template <class T>
  T operator()(T x) const {
    return std::floor(x);
  }
};

} // namespace

extern constexpr kernel_def floor_cpu{
    .op = "Floor",
    .run = unary_kernels<floor_of>(types::floating),
};

} // namespace troupe::ops::floor_cpu
