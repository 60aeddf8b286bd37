#include "troupe/ops/quantized/shared/rectification.cpu.hpp"

namespace troupe::ops::quantized_relu_x_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  if (at.input(1).rank() != 0)
    return invalid("max_value must be a scalar, got shape ", at.input(1).dims());
  return rectify<T>(at, 2, *at.input(1).data<float>());
}

} // namespace

extern constexpr kernel_def quantized_relu_x_cpu{
    .op = "QuantizedReluX",
    .run = {{dtype::u8, run<uint8_t>}, {dtype::i8, run<int8_t>}, {dtype::i32, run<int32_t>}},
    .key = "Tinput",
};

} // namespace troupe::ops::quantized_relu_x_cpu
