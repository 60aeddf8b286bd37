#include "troupe/ops/sparse/shared/sparse_dense.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"

namespace troupe::ops {

result<shapes> infer_sparse_dense(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  const auto& dense = at.input(3);
  if (sparse_shape.dims.has_rank() && dense.has_rank()) {
    auto missing = sparse_shape.dims.rank() - dense.rank();
    auto fits = missing >= 0;
    for (int axis = 0; fits && axis < dense.rank(); ++axis) {
      auto to = sparse_shape.dims[axis + missing];
      fits = dense[axis] == to || dense[axis] == 1 || std::min(dense[axis], to) == unknown_extent;
    }
    if (!fits)
      return at.invalid("the dense tensor ", dense,
                        " cannot be broadcast to the sparse one's shape ", sparse_shape.dims);
  }
  return shapes{{sparse_shape.count}};
}

edge dense_gradient(gradient_context& at, edge gradients) {
  auto dims = at.input(2), dense = at.input(3);
  auto zeros = build("Fill", {dims, scalar_like(gradients, 0)});
  auto dense_sum = build("SparseTensorDenseAdd", {at.input(0), gradients, dims, zeros});
  return unbroadcast(dense_sum, dense, dense_sum);
}

result<shapes> infer_sparse_pairs(const infer_context& at) {
  TROUPE_ASSIGN(auto a, infer_sparse(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto b, infer_sparse(at, sparse_inputs{3}));
  TROUPE_ASSIGN(auto joint, merge(a.dims, b.dims));
  return shapes{partial_sparse{unknown_extent, joint}.index_dims(), {unknown_extent}};
}

edge places_in_sum(edge shape_source, edge a_indices, edge b_indices, edge indices, int operand) {
  // Numbers from 1, passed back like gradients; 0 means no element.
  auto one_edge = constant_like(shape_source, tensor::scalar(int64_t{1}));
  return build("SparseAddGrad",
               {numbers_of(shape_source) + one_edge, a_indices, b_indices, indices}, {}, operand) -
         one_edge;
}

edges sparse_extreme_gradient(gradient_context& at, const char* op) {
  auto of_a = at.input(0), of_b = at.input(3), indices = at.output(0), y = at.output(1);
  auto dy = at.output_gradient(1), zeros = zeros_of(dy);
  // A missing element counts as 0, and its gradient is dropped.
  auto spread = [&](int input, int operand_index) {
    return gathered_in(y, at.input(input), places_in_sum(y, of_a, of_b, indices, operand_index));
  };
  auto from_a = build(op, {spread(1, 0), spread(4, 1)});
  auto da = build("Select", {from_a, dy, zeros}), db = build("Select", {from_a, zeros, dy});
  return {{}, build("SparseAddGrad", {da, of_a, of_b, indices}),        {},
          {}, build("SparseAddGrad", {db, of_a, of_b, indices}, {}, 1), {}};
}

result<shapes> infer_sparse_reduction(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  auto axes = at.integers(3);
  auto keeps = at.attr<bool>("keep_dims");
  if (!sparse_shape.dims.has_rank())
    return shapes{partial_shape::unknown()};
  if (!axes)
    return shapes{keeps ? partial_shape::of_rank(sparse_shape.dims.rank())
                        : partial_shape::unknown()};
  TROUPE_ASSIGN(auto reduced, axes_of(*axes, sparse_shape.dims.rank()));
  return shapes{without(sparse_shape.dims, reduced, keeps)};
}

} // namespace troupe::ops
