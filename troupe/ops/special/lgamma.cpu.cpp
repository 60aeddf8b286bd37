#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::lgamma_cpu {
namespace {

// std::lgamma would write the sign where other threads do, too.
struct log_gamma {
  static constexpr double cost = 2 * called;
  float operator()(float x) const {
    int sign;
    return lgammaf_r(x, &sign);
  }
  double operator()(double x) const {
    int sign;
    return lgamma_r(x, &sign);
  }
};

} // namespace

extern constexpr kernel_def lgamma_cpu{
    .op = "Lgamma",
    .run = unary_kernels<log_gamma>(types::floating),
};

} // namespace troupe::ops::lgamma_cpu
