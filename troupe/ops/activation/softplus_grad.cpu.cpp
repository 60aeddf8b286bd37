#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

namespace troupe::ops::softplus_grad_cpu {
namespace {

struct softplus_slope {
  static constexpr double cost = costly;
  float operator()(float gradient, float feature) const {
    return gradient * logistic_function(feature);
  }
  double operator()(double gradient, double feature) const {
    return gradient / (1 + std::exp(-feature));
  }
};

} // namespace

extern constexpr kernel_def softplus_grad_cpu{
    .op = "SoftplusGrad",
    .run = paired_kernels<softplus_slope>(types::floating),
};

} // namespace troupe::ops::softplus_grad_cpu
