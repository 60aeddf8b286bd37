#include "troupe/ops/random/shared/rejection.cpu.hpp"

namespace troupe::ops::random_gamma_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  for (auto alpha : at.input(1).values<T>())
    if (!is_positive(widen(alpha)))
      return invalid("alpha must be positive and finite, got ", widen(alpha));
  return draw_for_each<T>(at, 150, drawn_gamma);
}

} // namespace

extern constexpr kernel_def random_gamma_cpu{
    .op = "RandomGamma",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_gamma_cpu
