#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/float_functions.cpu.hpp"

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

} // namespace

extern constexpr kernel_def elu_cpu{
    .op = "Elu",
    .run = unary_kernels<exponential_below_zero>(types::floating),
};

} // namespace troupe::ops::elu_cpu
