// Slices of sparse tensors, and the gradient.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_slice_op {
namespace {

result<shapes> infer_sparse_slice(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  TROUPE_TRY(at.of_rank(3, 1));
  TROUPE_TRY(at.of_rank(4, 1));
  auto rank = sparse_shape.index_dims()[1];
  return shapes{{unknown_extent, rank}, {unknown_extent}, {rank}};
}

edges sparse_slice_gradient(gradient_context& at) {
  auto dx =
      build("SparseSliceGrad", {at.output_gradient(1), at.input(0), at.input(3), at.output(0)});
  return {{}, dx, {}, {}, {}};
}

result<shapes> infer_sparse_slice_grad(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_ASSIGN(auto indices, at.of_rank(1, 2));
  TROUPE_TRY(at.of_rank(2, 1));
  TROUPE_TRY(at.of_rank(3, 2));
  return shapes{{indices[0]}};
}

// Numbers from 1, passed back along with gradients, show the source of each element's gradient; 0
// means no gradient.
edges sparse_slice_grad_gradient(gradient_context& at) {
  auto slice_gradient = at.input(0);
  auto one_edge = constant_like(slice_gradient, tensor::scalar(int64_t{1}));
  auto came_from = build("SparseSliceGrad", {numbers_of(slice_gradient) + one_edge, at.input(1),
                                             at.input(2), at.input(3)}) -
                   one_edge;
  return {gathered_in(slice_gradient, at.output_gradient(0), came_from), {}, {}, {}};
}

} // namespace

extern constexpr op_def sparse_slice{
    .name = "SparseSlice",
    .doc = "Takes the elements of a block that begins at start and has the extents "
           "size.\n\nThe block may reach beyond the tensor; output_shape is the part inside. "
           "Elements keep their order.",
    .inputs = {{"indices", "i64"},
               {"values", "T"},
               on_host("shape", "i64"),
               on_host("start", "i64"),
               on_host("size", "i64")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}, {"output_shape", "i64"}},
    .attrs = {{"T", any_type}},
    .infer = infer_sparse_slice,
    .gradient = sparse_slice_gradient,
    .example = R"(
y = SparseSlice(i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3], i64[1, 1], i64[1, 9])
fetch y = i64[[0, 1]]
fetch y:1 = f32[3]
fetch y:2 = i64[1, 2]
)",
};

extern constexpr op_def sparse_slice_grad{
    .name = "SparseSliceGrad",
    .doc = "Hands the gradient of each element that SparseSlice kept to the element that it "
           "was.\n\nElements that were left out get 0. Both lists of indices are in the same "
           "order.",
    .inputs = {{"backprop_val_grad", "T"},
               {"input_indices", "i64"},
               {"input_start", "i64"},
               {"output_indices", "i64"}},
    .outputs = {{"val_grad", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer_sparse_slice_grad,
    .gradient = sparse_slice_grad_gradient,
    .example = R"(
dx = SparseSliceGrad(f32[5], i64[[0, 1], [1, 0], [1, 2]], i64[1, 1], i64[[0, 1]])
fetch dx = f32[0, 0, 5]
)",
};

} // namespace troupe::ops::sparse_slice_op
