#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::softsign_cpu {
namespace {

struct soft_sign {
  template <class T>
  T operator()(T x) const {
    return x / (T{1} + std::abs(x));
  }
};

} // namespace

extern constexpr kernel_def softsign_cpu{
    .op = "Softsign",
    .run = unary_kernels<soft_sign>(types::floating),
};

} // namespace troupe::ops::softsign_cpu
