#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/random/shared/rejection.cpu.hpp"

#include <unsupported/Eigen/SpecialFunctions>

namespace troupe::ops::random_gamma_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  for (auto alpha : at.input(1).values<T>())
    if (!is_positive(widen(alpha)))
      return invalid("alpha must be positive and finite, got ", widen(alpha));
  return draw_for_each<T>(at, 150, drawn_gamma);
}

struct sample_slope {
  static constexpr double cost = 500;
  template <class T>
  T operator()(T alpha, T sample) const {
    return Eigen::numext::gamma_sample_der_alpha(alpha, sample);
  }
};

} // namespace

extern constexpr kernel_def random_gamma_cpu{
    .op = "RandomGamma",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def random_gamma_grad_cpu{
    .op = "RandomGammaGrad",
    .run = binary_kernels<sample_slope>(type_list<float, double>{}),
};

} // namespace troupe::ops::random_gamma_cpu
