#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <algorithm>
#include <optional>

namespace troupe::ops::quantized_relu_cpu {
namespace {

// Clamps input 0 between the numbers for 0 and, if there is one, for a limit. Its range, which does
// not change, starts at input `range_at`.
template <class T>
status rectify(kernel_context& at, int first_range, std::optional<float> limit) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto range, range_at(at, first_range, x.type()));
  auto low = static_cast<T>(range.nearest(0));
  auto high = static_cast<T>(limit ? range.nearest(*limit) : range.highest);
  const auto* from = x.data<T>();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, x.dims()));
  auto* to = out->template data<T>();
  at.parallel_for(x.elements(), 0.1, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i)
      to[i] = std::min(std::max(from[i], low), high);
  });
  at.set_output(1, at.input(first_range));
  at.set_output(2, at.input(first_range + 1));
  return {};
}

template <class T>
status run_quantized_relu(kernel_context& at) {
  return rectify<T>(at, 1, {});
}

template <class T>
status run_quantized_relu6(kernel_context& at) {
  return rectify<T>(at, 1, 6.0f);
}

template <class T>
status run_quantized_relu_x(kernel_context& at) {
  if (at.input(1).rank() != 0)
    return invalid("max_value must be a scalar, got shape ", at.input(1).dims());
  return rectify<T>(at, 2, *at.input(1).data<float>());
}

} // namespace

extern constexpr kernel_def quantized_relu_cpu{
    .op = "QuantizedRelu",
    .run = {{dtype::u8, run_quantized_relu<uint8_t>},
            {dtype::i8, run_quantized_relu<int8_t>},
            {dtype::i32, run_quantized_relu<int32_t>}},
    .key = "Tinput",
};

extern constexpr kernel_def quantized_relu6_cpu{
    .op = "QuantizedRelu6",
    .run = {{dtype::u8, run_quantized_relu6<uint8_t>},
            {dtype::i8, run_quantized_relu6<int8_t>},
            {dtype::i32, run_quantized_relu6<int32_t>}},
    .key = "Tinput",
};

extern constexpr kernel_def quantized_relu_x_cpu{
    .op = "QuantizedReluX",
    .run = {{dtype::u8, run_quantized_relu_x<uint8_t>},
            {dtype::i8, run_quantized_relu_x<int8_t>},
            {dtype::i32, run_quantized_relu_x<int32_t>}},
    .key = "Tinput",
};

} // namespace troupe::ops::quantized_relu_cpu
