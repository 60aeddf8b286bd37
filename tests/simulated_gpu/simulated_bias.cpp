#include "tests/simulated_gpu/simulated_bias.hpp"

namespace troupe::gpu {
namespace {

template <class T>
status add_each(const biased_result& to, const epilogue& bias_options) {
  auto* values = static_cast<T*>(to.values);
  const auto* bias = static_cast<const T*>(bias_options.bias);
  for (int64_t i = 0; i < to.elements(); ++i) {
    auto value =
        static_cast<float>(values[i]) + static_cast<float>(bias[i / to.inner % to.channels]);
    values[i] = T(bias_options.rectify && value <= 0 ? 0.0f : value);
  }
  return {};
}

} // namespace

status add_bias_on_host(const biased_result& to, const epilogue& bias_options) {
  switch (to.type) {
    case dtype::f16: return add_each<float16>(to, bias_options);
    case dtype::bf16: return add_each<bfloat16>(to, bias_options);
    case dtype::f32: return add_each<float>(to, bias_options);
    default: return invalid("takes f16, bf16 or f32, got ", to.type);
  }
}

} // namespace troupe::gpu
