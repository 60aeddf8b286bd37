#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::relu_cpu {
namespace {

struct positive_part {
  template <class T>
  T operator()(T x) const {
    return x <= T{0} ? T{0} : x; // NaN stays
  }
};

} // namespace

extern constexpr kernel_def relu_cpu{
    .op = "Relu",
    .device = device_kind::cpu,
    .run = unary_kernels<positive_part>(types::real_numbers),
};

} // namespace troupe::ops::relu_cpu
