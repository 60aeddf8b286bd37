// SparseTensorDenseAdd: adds a few elements to many.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_tensor_dense_add_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto known, infer_sparse(at, sparse_inputs{0}));
  auto joint = merge(known.dims, at.input(3));
  if (joint)
    return shapes{*std::move(joint)};
  return at.invalid("the sparse tensor has shape ", known.dims, ", the dense one ", at.input(3));
}

edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto indices = cast_to(at.input(0), dtype::i64), dims = cast_to(at.input(2), dtype::i64);
  return {{}, dense_at(indices, at.input(1), dims, dy), {}, dy};
}

} // namespace

extern constexpr op_def sparse_tensor_dense_add{
    .name = "SparseTensorDenseAdd",
    .doc = "Adds a sparse tensor to a dense one of the same shape.\n\nThe order of the indices "
           "does not matter, and elements that are there twice are added twice.",
    .inputs = {{"a_indices", "Tindices"},
               {"a_values", "T"},
               on_host("a_shape", "Tindices"),
               {"b", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", numbers}, {"Tindices", index_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SparseTensorDenseAdd(i32[[0, 1], [1, 0]], f32[1, 2], i32[2, 2], f32[[10, 20], [30, 40]])
fetch y = f32[[10, 21], [32, 40]]
)",
};

} // namespace troupe::ops::sparse_tensor_dense_add_op
