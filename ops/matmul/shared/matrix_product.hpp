// Products of batches of matrices, which several ops compute.
#pragma once
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// How an operand enters a product.
struct matrix_use {
  bool transpose = false;
  bool conjugate = false; ///< matters for complex numbers only
};

/// c (m x n) = a (m x k) * b (k x n), as op(a) and op(b) are; for each element of `batches`, whose
/// operands 0 and 1 say where the matrices of a and b begin. The products lie behind each other.
struct matrix_product {
  matrix_use a, b;
  int64_t m = 0, n = 0, k = 0;
  strided_iterator batches = {};
};

/// Checks op(a) and op(b), which have two axes or more, and returns the product and its shape. The
/// axes in front are batches, and broadcast.
struct planned_product {
  matrix_product what;
  shape dims;
};
result<planned_product> plan_product(const shape& a, matrix_use use_a, const shape& b,
                                     matrix_use use_b);
/// The same for shapes as far as they are known.
result<partial_shape> infer_product(const partial_shape& a, bool transpose_a,
                                    const partial_shape& b, bool transpose_b);

/// Computes a product on one kind of device.
using product_function = status(kernel_context& at, const matrix_product& what, const tensor& a,
                                const tensor& b, tensor& c);

/// Matrices of a behind each other, all multiplied by the same b, are one matrix.
matrix_product joined(matrix_product of);

/// Computes the product of row-major, dense matrices of any type of number, spread over the threads
/// of the device. Halves are multiplied as floats, whole numbers wrap around.
status multiply(kernel_context& at, const matrix_product& what, const tensor& a, const tensor& b,
                tensor& c);

/// Estimates a product's floating-point operations, with unknown extents as 1.
double product_flops(const partial_shape& a, bool transpose_a, const partial_shape& product);

} // namespace troupe::ops
