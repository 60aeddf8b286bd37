#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <unsupported/Eigen/SpecialFunctions>

namespace troupe::ops::igamma_grad_a_cpu {
namespace {

struct incomplete_gamma_slope {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(Eigen::numext::igamma_der_a<double>(a, x));
  }
};

} // namespace

extern constexpr kernel_def igamma_grad_a_cpu{
    .op = "IgammaGradA",
    .run = binary_kernels<incomplete_gamma_slope>(types::floating),
};

} // namespace troupe::ops::igamma_grad_a_cpu
