// SparseAddGrad: the gradients of the two that SparseAdd added.
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 1));
  TROUPE_ASSIGN(auto a, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto b, at.of_rank(2, 2));
  TROUPE_TRY(at.of_rank(3, 2));
  return shapes{{a[0]}, {b[0]}};
}

} // namespace

extern constexpr op_def sparse_add_grad{
    .name = "SparseAddGrad",
    .doc = "Hands the gradient of each element of a sum to the elements of a and b that it was "
           "made of.\n\nElements whose sum was left out get 0. All indices are in order.",
    .inputs = {{"backprop_val_grad", "T"},
               {"a_indices", "i64"},
               {"b_indices", "i64"},
               {"sum_indices", "i64"}},
    .outputs = {{"a_val_grad", "T"}, {"b_val_grad", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer,
    .no_gradient = "not written yet, as in TensorFlow",
    .example = R"(
dx = SparseAddGrad(f32[10, 20], i64[[0, 1], [1, 0]], i64[[0, 0], [1, 0]], i64[[0, 0], [0, 1]])
fetch dx = f32[20, 0]
fetch dx:1 = f32[10, 0]
)",
};

} // namespace troupe::ops
