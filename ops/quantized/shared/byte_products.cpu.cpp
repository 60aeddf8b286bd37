#include "troupe/ops/quantized/shared/byte_products.cpu.hpp"

#include <algorithm>

namespace troupe::ops {

result<quantized_operand> as_bytes(kernel_context& at, const quantized_operand& from, dtype type) {
  if (from.values.type() == type)
    return from;
  TROUPE_ASSIGN(auto moved, tensor::make(type, from.values.dims(), at.memory()));
  const auto* x = static_cast<const uint8_t*>(from.values.raw());
  auto* to = static_cast<uint8_t*>(moved.raw());
  at.parallel_for(moved.elements(), 0.05, [&](int64_t begin, int64_t end) {
    std::transform(x + begin, x + end, to + begin,
                   [](uint8_t byte) { return static_cast<uint8_t>(byte ^ 0x80); });
  });
  return quantized_operand{std::move(moved), from.zero + (type == dtype::u8 ? 128 : -128)};
}

result<byte_operands> as_byte_operands(kernel_context& at, const quantized_operand& a,
                                       const quantized_operand& b) {
  byte_operands prepared;
  TROUPE_ASSIGN(prepared.a, as_bytes(at, a, dtype::u8));
  TROUPE_ASSIGN(prepared.b, as_bytes(at, b, dtype::i8));
  return prepared;
}

result<tensor> from_zero_on(kernel_context& at, const quantized_operand& from) {
  TROUPE_ASSIGN(auto differences, tensor::make(dtype::i32, from.values.dims(), at.memory()));
  auto* to = differences.data<int32_t>();
  auto fill = [&](const auto* x) {
    at.parallel_for(differences.elements(), 0.3, [&](int64_t begin, int64_t end) {
      std::transform(x + begin, x + end, to + begin,
                     [&](auto number) { return static_cast<int32_t>(number - from.zero); });
    });
  };
  if (from.values.type() == dtype::u8)
    fill(from.values.data<uint8_t>());
  else
    fill(from.values.data<int8_t>());
  return differences;
}

} // namespace troupe::ops
