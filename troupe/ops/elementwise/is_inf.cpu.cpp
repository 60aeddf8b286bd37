#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::is_inf_cpu {
namespace {

struct infinite {
  template <class T>
  bool operator()(T x) const {
    return std::isinf(x);
  }
};

} // namespace

extern constexpr kernel_def is_inf_cpu{
    .op = "IsInf",
    .run = unary_kernels_to<bool, infinite>(types::floating),
};

} // namespace troupe::ops::is_inf_cpu
