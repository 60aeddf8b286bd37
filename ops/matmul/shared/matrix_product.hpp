// Products of batches of matrices, shared by several ops.
#pragma once
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// The use of an operand in a product.
struct matrix_use {
  bool transpose = false;
  bool conjugate = false; ///< relevant for complex numbers only
};

/// c (m x n) = a (m x k) * b (k x n), where a and b stand for op(a) and op(b), for each element of
/// `batches`. Its operands 0 and 1 give the offsets of the matrices of a and b. The products are
/// stored in sequence.
struct matrix_product {
  matrix_use a, b;
  int64_t m = 0, n = 0, k = 0;
  strided_iterator batches = {};
};

/// Checks op(a) and op(b), which have two axes or more, and returns the product and its shape. The
/// leading axes are batches, and broadcast.
struct planned_product {
  matrix_product what;
  shape dims;
};
result<planned_product> plan_product(const shape& a, matrix_use use_a, const shape& b,
                                     matrix_use use_b);
/// The same for shapes, as far as they are known.
result<partial_shape> infer_product(const partial_shape& a, bool transpose_a,
                                    const partial_shape& b, bool transpose_b);

/// Computes a product on one kind of device.
using product_function = status(kernel_context& at, const matrix_product& product, const tensor& a,
                                const tensor& b, tensor& c);

/// Merges consecutive matrices of a that are all multiplied by the same b into one matrix.
matrix_product joined(matrix_product product);

/// Computes the product of row-major, dense matrices of any numeric type on the threads of the
/// device. Halves are multiplied as floats; integers wrap around.
status multiply(kernel_context& at, const matrix_product& product, const tensor& a, const tensor& b,
                tensor& c);

/// Estimates a product's floating-point operations, with unknown extents as 1.
double product_flops(const partial_shape& a, bool transpose_a, const partial_shape& product);

} // namespace troupe::ops
