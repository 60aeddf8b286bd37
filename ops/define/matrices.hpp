// Shared by the definitions of ops on batches of matrices. The last two axes are the matrices.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

#include <initializer_list>

namespace troupe::ops {

/// The element types of decompositions.
inline constexpr dtype_set field_types{dtype::f32, dtype::f64, dtype::c64, dtype::c128};

/// The shape of input i, which must have two axes or more.
result<partial_shape> matrices_at(const infer_context& at, int i);
/// The same for square matrices.
result<partial_shape> square_matrices_at(const infer_context& at, int i);
/// The shape with its last two axes replaced by these.
result<partial_shape> with_matrix(const partial_shape& matrices,
                                  std::initializer_list<int64_t> last);
/// Output 0 has the shape of input 0: square matrices.
result<shapes> infer_square(const infer_context& at);

/// a * b, either of them transposed and conjugated first if requested.
edge product(edge a, edge b, bool adjoint_a = false, bool adjoint_b = false);
/// The extent of an axis, counted from the end, as i64 scalar.
edge extent_of(edge x, int from_end);
/// The identity matrix of the size of x's last axis.
edge identity_like(edge x);
/// The elements on and below the diagonal of each matrix, zeros above it.
edge lower_triangle(edge x);
/// The elements on and above the diagonal.
edge upper_triangle(edge x);
/// The elements below the diagonal, and half of the diagonal.
edge half_lower_triangle(edge x);
/// The elements above the diagonal, and half of the diagonal.
edge half_upper_triangle(edge x);
/// A vector as a column, or as a row, of a matrix.
edge as_column(edge vector);
edge as_row(edge vector);
/// A number per matrix, as a matrix of one element.
edge as_matrix(edge numbers);

} // namespace troupe::ops
