// SparseSliceGrad: the gradient of the elements that SparseSlice took from.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_slice_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_ASSIGN(auto indices, at.of_rank(1, 2));
  TROUPE_TRY(at.of_rank(2, 1));
  TROUPE_TRY(at.of_rank(3, 2));
  return shapes{{indices[0]}};
}

// Numbers from 1 that are handed back along with gradients say which of them went to each element;
// 0 is none.
edges gradient(gradient_context& at) {
  auto given = at.input(0);
  auto one = constant_like(given, tensor::scalar(int64_t{1}));
  auto came_from =
      build("SparseSliceGrad", {numbers_of(given) + one, at.input(1), at.input(2), at.input(3)}) -
      one;
  return {gathered_in(given, at.output_gradient(0), came_from), {}, {}, {}};
}

} // namespace

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
    .infer = infer,
    .gradient = gradient,
    .example = R"(
dx = SparseSliceGrad(f32[5], i64[[0, 1], [1, 0], [1, 2]], i64[1, 1], i64[[0, 1]])
fetch dx = f32[0, 0, 5]
)",
};

} // namespace troupe::ops::sparse_slice_grad_op
