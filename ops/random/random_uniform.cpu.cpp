#include "troupe/ops/random/random.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  return fill_random<T, per_block<T>>(at, 10, [](const philox& numbers, uint64_t index) {
    auto x = numbers(index);
    if constexpr (per_block<T> == 2)
      return std::array{uniform<T>(joined(x[0], x[1])), uniform<T>(joined(x[2], x[3]))};
    else
      return std::array{uniform<T>(x[0]), uniform<T>(x[1]), uniform<T>(x[2]), uniform<T>(x[3])};
  });
}

} // namespace

extern constexpr kernel_def random_uniform_cpu{
    .op = "RandomUniform",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops
