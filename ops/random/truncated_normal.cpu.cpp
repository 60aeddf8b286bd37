#include "troupe/ops/random/random.cpu.hpp"

namespace troupe::ops {
namespace {

// One in 22 is beyond: after this many attempts, none in 10^27.
constexpr uint32_t most_attempts = 20;

template <class T>
status run(kernel_context& at) {
  return fill_random<T, per_block<T>>(at, 80, [](const philox& numbers, uint64_t index) {
    std::array<T, per_block<T>> out{};
    std::array<bool, per_block<T>> accepted{};
    size_t missing = out.size();
    for (uint32_t attempt = 0; missing != 0 && attempt < most_attempts; ++attempt) {
      auto drawn = normal_block<compute_type<T>>(numbers(index, attempt));
      for (size_t i = 0; i < out.size(); ++i)
        if (!accepted[i] && std::abs(drawn[i]) < 2) {
          out[i] = static_cast<T>(drawn[i]);
          accepted[i] = true;
          --missing;
        }
    }
    return out;
  });
}

} // namespace

extern constexpr kernel_def truncated_normal_cpu{
    .op = "TruncatedNormal",
    .device = device_kind::cpu,
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops
