#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

#include <cmath>

namespace troupe::ops::softplus_cpu {
namespace {

// log(1 + exp(x)) would overflow for large x.
struct smooth_positive_part {
  static constexpr double cost = 2 * costly;
  float operator()(float x) const {
    float tail = exponential(x < 0.f ? x : -x);
    return (x < 0.f ? 0.f : x) + logarithm_of_one_more(tail);
  }
  double operator()(double x) const {
    return (x < 0 ? 0 : x) + std::log1p(std::exp(x < 0 ? x : -x));
  }
};

struct softplus_slope {
  static constexpr double cost = costly;
  float operator()(float gradient, float feature) const {
    return gradient * logistic_function(feature);
  }
  double operator()(double gradient, double feature) const {
    return gradient / (1 + std::exp(-feature));
  }
};

struct soft_sign {
  template <class T>
  T operator()(T x) const {
    return x / (T{1} + std::abs(x));
  }
};

struct softsign_slope {
  template <class T>
  T operator()(T gradient, T feature) const {
    auto root = T{1} + std::abs(feature);
    return gradient / (root * root);
  }
};

} // namespace

extern constexpr kernel_def softplus_cpu{
    .op = "Softplus",
    .run = unary_kernels<smooth_positive_part>(types::floating),
};

extern constexpr kernel_def softplus_grad_cpu{
    .op = "SoftplusGrad",
    .run = paired_kernels<softplus_slope>(types::floating),
};

extern constexpr kernel_def softsign_cpu{
    .op = "Softsign",
    .run = unary_kernels<soft_sign>(types::floating),
};

extern constexpr kernel_def softsign_grad_cpu{
    .op = "SoftsignGrad",
    .run = paired_kernels<softsign_slope>(types::floating),
};

} // namespace troupe::ops::softplus_cpu
