#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

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

} // namespace

extern constexpr kernel_def softplus_cpu{
    .op = "Softplus",
    .run = unary_kernels<smooth_positive_part>(types::floating),
};

} // namespace troupe::ops::softplus_cpu
