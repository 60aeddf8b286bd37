#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <unsupported/Eigen/SpecialFunctions>

namespace troupe::ops::random_gamma_grad_cpu {
namespace {

struct sample_slope {
  static constexpr double cost = 500;
  template <class T>
  T operator()(T alpha, T sample) const {
    return Eigen::numext::gamma_sample_der_alpha(alpha, sample);
  }
};

} // namespace

extern constexpr kernel_def random_gamma_grad_cpu{
    .op = "RandomGammaGrad",
    .run = binary_kernels<sample_slope>(type_list<float, double>{}),
};

} // namespace troupe::ops::random_gamma_grad_cpu
