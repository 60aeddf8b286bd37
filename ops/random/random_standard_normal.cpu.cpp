#include "troupe/ops/random/random.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
status run(kernel_context& at) {
  return fill_random<T, per_block<T>>(at, 60, [](const philox& numbers, uint64_t index) {
    auto drawn = normal_block<compute_type<T>>(numbers(index));
    std::array<T, per_block<T>> out;
    std::ranges::transform(drawn, out.begin(), [](auto x) { return static_cast<T>(x); });
    return out;
  });
}

} // namespace

extern constexpr kernel_def random_standard_normal_cpu{
    .op = "RandomStandardNormal",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops
