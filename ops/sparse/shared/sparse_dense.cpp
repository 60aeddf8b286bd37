#include "troupe/ops/sparse/shared/sparse_dense.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"

namespace troupe::ops {

result<shapes> infer_sparse_dense(const infer_context& at) {
  TROUPE_ASSIGN(auto known, infer_sparse(at, sparse_inputs{0}));
  const auto& dense = at.input(3);
  if (known.dims.has_rank() && dense.has_rank()) {
    auto missing = known.dims.rank() - dense.rank();
    auto fits = missing >= 0;
    for (int axis = 0; fits && axis < dense.rank(); ++axis) {
      auto to = known.dims[axis + missing];
      fits = dense[axis] == to || dense[axis] == 1 || std::min(dense[axis], to) == unknown_extent;
    }
    if (!fits)
      return at.invalid("the dense tensor ", dense,
                        " cannot be broadcast to the sparse one's shape ", known.dims);
  }
  return shapes{{known.count}};
}

edge dense_gradient(gradient_context& at, edge gradients) {
  auto dims = at.input(2), dense = at.input(3);
  auto zeros = build("Fill", {dims, scalar_like(gradients, 0)});
  auto all = build("SparseTensorDenseAdd", {at.input(0), gradients, dims, zeros});
  return unbroadcast(all, dense, all);
}

result<shapes> infer_sparse_pairs(const infer_context& at) {
  TROUPE_ASSIGN(auto a, infer_sparse(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto b, infer_sparse(at, sparse_inputs{3}));
  TROUPE_ASSIGN(auto joint, merge(a.dims, b.dims));
  return shapes{partial_sparse{unknown_extent, joint}.index_dims(), {unknown_extent}};
}

edge places_in_sum(edge like, edge a_indices, edge b_indices, edge indices, int which) {
  // Numbers from 1 that are handed back like gradients; 0 is none.
  auto one = constant_like(like, tensor::scalar(int64_t{1}));
  return build("SparseAddGrad", {numbers_of(like) + one, a_indices, b_indices, indices}, {},
               which) -
         one;
}

edges sparse_extreme_gradient(gradient_context& at, const char* op) {
  auto of_a = at.input(0), of_b = at.input(3), indices = at.output(0), y = at.output(1);
  auto dy = at.output_gradient(1), zeros = zeros_of(dy);
  // What is not there counts as 0, and drops its gradient.
  auto spread = [&](int input, int which) {
    return gathered_in(y, at.input(input), places_in_sum(y, of_a, of_b, indices, which));
  };
  auto from_a = build(op, {spread(1, 0), spread(4, 1)});
  auto da = build("Select", {from_a, dy, zeros}), db = build("Select", {from_a, zeros, dy});
  return {{}, build("SparseAddGrad", {da, of_a, of_b, indices}),        {},
          {}, build("SparseAddGrad", {db, of_a, of_b, indices}, {}, 1), {}};
}

result<shapes> infer_sparse_reduction(const infer_context& at) {
  TROUPE_ASSIGN(auto known, infer_sparse(at, sparse_inputs{0}));
  auto axes = at.integers(3);
  auto keeps = at.attr<bool>("keep_dims");
  if (!known.dims.has_rank())
    return shapes{partial_shape::unknown()};
  if (!axes)
    return shapes{keeps ? partial_shape::of_rank(known.dims.rank()) : partial_shape::unknown()};
  TROUPE_ASSIGN(auto reduced, axes_of(*axes, known.dims.rank()));
  return shapes{without(known.dims, reduced, keeps)};
}

} // namespace troupe::ops
