#include "troupe/devices/cpu/eigen.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

#include <unsupported/Eigen/SpecialFunctions>

namespace troupe::ops::igamma_cpu {
namespace {

struct lower_incomplete_gamma {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(special::lower_gamma(a, x));
  }
};

struct upper_incomplete_gamma {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(special::upper_gamma(a, x));
  }
};

struct incomplete_gamma_slope {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(Eigen::numext::igamma_der_a<double>(a, x));
  }
};

} // namespace

extern constexpr kernel_def igamma_cpu{
    .op = "Igamma",
    .run = binary_kernels<lower_incomplete_gamma>(types::floating),
};

extern constexpr kernel_def igammac_cpu{
    .op = "Igammac",
    .run = binary_kernels<upper_incomplete_gamma>(types::floating),
};

extern constexpr kernel_def igamma_grad_a_cpu{
    .op = "IgammaGradA",
    .run = binary_kernels<incomplete_gamma_slope>(types::floating),
};

} // namespace troupe::ops::igamma_cpu
