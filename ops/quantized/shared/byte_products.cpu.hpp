// Operands of products of bytes.
#pragma once
#include "troupe/ops/quantized/shared/quantized_range.hpp"

#include <limits>

namespace troupe::ops {

/// Quantized numbers, and the number that represents 0.
struct quantized_operand {
  tensor values;
  int64_t zero = 0;

  /// Whether the type can represent the zero.
  template <class T>
  bool has_zero() const {
    return zero >= std::numeric_limits<T>::min() && zero <= std::numeric_limits<T>::max();
  }
};

/// The same numbers, shifted by 128 if that is needed for the type, u8 or i8.
result<quantized_operand> as_bytes(kernel_context& at, const quantized_operand& from, dtype type);

/// The numbers relative to their zero, as i32, which wraps around.
result<tensor> from_zero_on(kernel_context& at, const quantized_operand& from);

/// Two operands in the types that products of bytes need, u8 and i8.
struct byte_operands {
  quantized_operand a, b;
  /// Whether the operands can be multiplied as bytes: each range includes 0.
  bool fit() const { return a.has_zero<uint8_t>() && b.has_zero<int8_t>(); }
};
result<byte_operands> as_byte_operands(kernel_context& at, const quantized_operand& a,
                                       const quantized_operand& b);

} // namespace troupe::ops
