// Shared by the ops on quantized tensors: numbers of few bits represent a real range.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline constexpr dtype_set byte_types = one_of(dtype::u8, dtype::i8);

/// The numbers of a type and the range that they represent, end for end. The number nearest to 0
/// represents 0; where the range does not include 0, the type may lack that number.
struct quantized_range {
  float least = 0, most = 0;
  int64_t lowest = 0, highest = 0;

  /// For u8, i8 and i32.
  quantized_range(dtype type, float real_least, float real_most);

  /// The number for a real value, even if it is outside of the type.
  int64_t whole(float real) const;
  /// The nearest number of the type.
  int64_t nearest(float real) const;
  int64_t zero() const { return whole(0); }
  float real(int64_t number) const;
  float step() const; ///< the distance of adjacent numbers
};

/// The range of an i32 that is a product of two numbers, or a sum of such products.
quantized_range range_of_products(const quantized_range& a, const quantized_range& b);

/// The range of the type's numbers that inputs i and i + 1 give. Fails unless they are finite
/// scalars in order.
result<quantized_range> range_at(const kernel_context& at, int i, dtype type);
/// The same; fails also where the ends are equal.
result<quantized_range> wide_range_at(const kernel_context& at, int i, dtype type);

/// Writes the ends of the range to the output and the next one.
status give_range(kernel_context& at, const quantized_range& range, int output = 1);

/// A tensor of that shape and its range, where the ranges are the inputs from `first_range` on.
result<shapes> infer_quantized(const infer_context& at, const partial_shape& dims, int first_range);
/// The same for the shape of input 0.
template <int FirstRange>
result<shapes> infer_quantized_like_input(const infer_context& at) {
  return infer_quantized(at, at.input(0), FirstRange);
}

} // namespace troupe::ops
