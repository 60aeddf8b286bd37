// Shared by the definitions of MatMul and SparseMatMul.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/matmul/shared/matrix_product.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

inline result<shapes> infer_matmul(const infer_context& at) {
  TROUPE_ASSIGN(auto a, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto b, at.of_rank(1, 2));
  auto across_a = at.attr<bool>("transpose_a"), across_b = at.attr<bool>("transpose_b");
  TROUPE_ASSIGN(auto product, infer_product(a, across_a, b, across_b));
  return shapes{product};
}

inline double matmul_flops(const node& from_node) {
  return product_flops(from_node.inputs()[0].dims(), from_node.attr<bool>("transpose_a"),
                       from_node.output_shape(0));
}

/// For y = a * b: da = dy * b', db = a' * dy. Where an operand was transposed, so is its gradient.
/// `product_of(a, transpose_a, b, transpose_b)` adds a product to the graph.
template <class Product>
edges matmul_gradient(gradient_context& at, Product product_of) {
  auto a = conjugate(at.input(0)), b = conjugate(at.input(1)), dy = at.output_gradient(0);
  auto across_a = at.attr<bool>("transpose_a"), across_b = at.attr<bool>("transpose_b");
  return {across_a ? product_of(b, across_b, dy, true) : product_of(dy, false, b, !across_b),
          across_b ? product_of(dy, true, a, across_a) : product_of(a, !across_a, dy, false)};
}

} // namespace troupe::ops
