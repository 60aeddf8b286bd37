#include "troupe/ops/quantized/shared/rectification.cpu.hpp"

namespace troupe::ops::quantized_relu_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  return rectify<T>(at, 1, {});
}

} // namespace

extern constexpr kernel_def quantized_relu_cpu{
    .op = "QuantizedRelu",
    .run = {{dtype::u8, run<uint8_t>}, {dtype::i8, run<int8_t>}, {dtype::i32, run<int32_t>}},
    .key = "Tinput",
};

} // namespace troupe::ops::quantized_relu_cpu
