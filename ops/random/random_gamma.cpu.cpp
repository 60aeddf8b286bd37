#include "troupe/ops/random/rejection.cpu.hpp"

namespace troupe::ops {
namespace {

// Marsaglia and Tsang, "A Simple Method for Generating Gamma Variables", 2000.
double gamma(number_source& numbers, double alpha) {
  if (alpha < 1) // of alpha + 1, scaled
    return std::pow(1 - numbers.uniform(), 1 / alpha) * gamma(numbers, alpha + 1);
  const auto d = alpha - 1.0 / 3, c = 1 / (3 * std::sqrt(d));
  while (true) {
    auto x = numbers.normal(), root = 1 + c * x, v = root * root * root;
    if (v <= 0)
      continue;
    if (std::log(1 - numbers.uniform()) < x * x / 2 + d * (1 - v + std::log(v)))
      return d * v;
  }
}

template <class T>
status run(kernel_context& at) {
  for (auto alpha : at.input(1).values<T>())
    if (!(widen(alpha) > 0 && std::isfinite(widen(alpha))))
      return invalid("alpha must be positive and finite, got ", widen(alpha));
  return draw_for_each<T>(at, 150, gamma);
}

} // namespace

extern constexpr kernel_def random_gamma_cpu{
    .op = "RandomGamma",
    .run = {{dtype::f16, run<float16>}, {dtype::f32, run<float>}, {dtype::f64, run<double>}},
    .prepare = prepare_stream,
};

} // namespace troupe::ops
