#include "troupe/ops/random/shared/distributions.cpu.hpp"
#include "troupe/ops/random/shared/integers.hpp"
#include "troupe/ops/random/shared/random.cpu.hpp"

namespace troupe::ops::random_uniform_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_TRY(check_range(at));
  auto from = *at.input(1).data<T>(), to = *at.input(2).data<T>();
  if (from >= to)
    return invalid("minval must be less than maxval, got ", from, " and ", to);
  return fill_random<T, 2>(at, 14, integer_draw<T>{from, to});
}

} // namespace

extern constexpr kernel_def random_uniform_cpu{
    .op = "RandomUniform",
    .run = drawn_kernels<uniform_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def random_uniform_int_cpu{
    .op = "RandomUniformInt",
    .device = device_kind::cpu,
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .key = "Tout",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def stateless_random_uniform_cpu{
    .op = "StatelessRandomUniform",
    .run = stateless_kernels<uniform_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::random_uniform_cpu
