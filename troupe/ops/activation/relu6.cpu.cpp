#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::relu6_cpu {
namespace {

struct clamped_part {
  template <class T>
  T operator()(T x) const {
    return x <= T{0} ? T{0} : x >= T{6} ? T{6} : x; // NaN stays
  }
};

} // namespace

extern constexpr kernel_def relu6_cpu{
    .op = "Relu6",
    .run = unary_kernels<clamped_part>(types::real_numbers),
};

} // namespace troupe::ops::relu6_cpu
