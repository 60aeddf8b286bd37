#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::softsign_grad_cpu {
namespace {

struct softsign_slope {
  template <class T>
  T operator()(T gradient, T feature) const {
    auto root = T{1} + std::abs(feature);
    return gradient / (root * root);
  }
};

} // namespace

extern constexpr kernel_def softsign_grad_cpu{
    .op = "SoftsignGrad",
    .run = paired_kernels<softsign_slope>(types::floating),
};

} // namespace troupe::ops::softsign_grad_cpu
