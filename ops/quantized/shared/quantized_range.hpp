// What the ops on quantized tensors share: whole numbers of few bits stand for a range of real
// ones.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline constexpr dtype_set byte_types = one_of(dtype::u8, dtype::i8);

/// The whole numbers of a type and the range that they stand for, end for end. One of them, as near
/// as there is, stands for 0; it may be none that the type has where the range does not have 0.
struct quantized_range {
  float least = 0, most = 0;
  int64_t lowest = 0, highest = 0;

  /// For u8, i8 and i32.
  quantized_range(dtype type, float real_least, float real_most);

  /// The whole number for a real one, even if the type does not have it.
  int64_t whole(float real) const;
  /// The nearest one that the type has.
  int64_t nearest(float real) const;
  int64_t zero() const { return whole(0); }
  float real(int64_t whole) const;
  float step() const; ///< between neighbours
};

/// What an i32 stands for that is the product of two whole numbers, or a sum of such.
quantized_range range_of_products(const quantized_range& a, const quantized_range& b);

/// What inputs i and i + 1 say about whole numbers of the type. Fails unless they are finite
/// scalars in order.
result<quantized_range> range_at(const kernel_context& at, int i, dtype type);
/// The same where both ends may not be one.
result<quantized_range> wide_range_at(const kernel_context& at, int i, dtype type);

/// Makes the output and the next one: the ends of the range.
status give_range(kernel_context& at, const quantized_range& range, int output = 1);

/// A tensor of that shape and its range, where the ranges are the inputs from `first_range` on.
result<shapes> infer_quantized(const infer_context& at, const partial_shape& dims, int first_range);
/// The same for the shape of input 0.
template <int FirstRange>
result<shapes> infer_quantized_like_input(const infer_context& at) {
  return infer_quantized(at, at.input(0), FirstRange);
}

} // namespace troupe::ops
