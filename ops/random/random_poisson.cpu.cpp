#include "troupe/ops/random/shared/rejection.cpu.hpp"

#include <math.h> // lgamma_r: std::lgamma writes to a global variable

namespace troupe::ops::random_poisson_cpu {
namespace {

template <class T>
status draw_poisson(kernel_context& at) {
  TROUPE_ASSIGN(auto rates, as_doubles(at.input(1), at.memory()));
  for (auto rate : rates.template values<double>())
    if (!is_rate(rate))
      return invalid("a rate must be finite and not negative, got ", rate);
  return draw_for_each<T>(at, 150, [](number_source& numbers, double rate) {
    return drawn_poisson(numbers, rate, [](double x) {
      int sign = 0;
      return ::lgamma_r(x, &sign);
    });
  });
}

} // namespace

extern constexpr kernel_def random_poisson_cpu{
    .op = "RandomPoisson",
    .run = {{dtype::f16, draw_poisson<float16>},
            {dtype::f32, draw_poisson<float>},
            {dtype::f64, draw_poisson<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def random_poisson_v2_cpu{
    .op = "RandomPoissonV2",
    .run = {{dtype::f16, draw_poisson<float16>},
            {dtype::f32, draw_poisson<float>},
            {dtype::f64, draw_poisson<double>},
            {dtype::i32, draw_poisson<int32_t>},
            {dtype::i64, draw_poisson<int64_t>}},
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

} // namespace troupe::ops::random_poisson_cpu
