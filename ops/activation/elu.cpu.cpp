#include "troupe/ops/activation/shared/selu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

#include <cmath>

namespace troupe::ops::elu_cpu {
namespace {

struct exponential_below_zero {
  static constexpr double cost = costly;
  float operator()(float x) const {
    float below = exponential_minus_one(x < 0.f ? x : 0.f);
    return x < 0.f ? below : x;
  }
  double operator()(double x) const { return x < 0 ? std::expm1(x) : x; }
};

struct elu_slope {
  template <class T>
  T operator()(T gradient, T output) const {
    return output < T{0} ? gradient * (output + T{1}) : gradient;
  }
};

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

struct selu_slope {
  template <class T>
  T operator()(T gradient, T output) const {
    return gradient *
           (output < T{0} ? output + static_cast<T>(selu_scale_alpha) : static_cast<T>(selu_scale));
  }
};

} // namespace

extern constexpr kernel_def elu_cpu{
    .op = "Elu",
    .run = unary_kernels<exponential_below_zero>(types::floating),
};

extern constexpr kernel_def elu_grad_cpu{
    .op = "EluGrad",
    .run = paired_kernels<elu_slope>(types::floating),
};

extern constexpr kernel_def selu_cpu{
    .op = "Selu",
    .run = unary_kernels<scaled_exponential>(types::floating),
};

extern constexpr kernel_def selu_grad_cpu{
    .op = "SeluGrad",
    .run = paired_kernels<selu_slope>(types::floating),
};

} // namespace troupe::ops::elu_cpu
