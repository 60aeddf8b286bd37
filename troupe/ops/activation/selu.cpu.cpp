#include "troupe/ops/activation/selu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

namespace troupe::ops::selu_cpu {
namespace {

struct scaled_exponential {
  static constexpr double cost = costly;
  float operator()(float x) const {
    float below = exponential_minus_one(x < 0.f ? x : 0.f);
    return x < 0.f ? static_cast<float>(selu_scale_alpha) * below
                   : static_cast<float>(selu_scale) * x;
  }
  double operator()(double x) const {
    return x < 0 ? selu_scale_alpha * std::expm1(x) : selu_scale * x;
  }
};

} // namespace

extern constexpr kernel_def selu_cpu{
    .op = "Selu",
    .run = unary_kernels<scaled_exponential>(types::floating),
};

} // namespace troupe::ops::selu_cpu
