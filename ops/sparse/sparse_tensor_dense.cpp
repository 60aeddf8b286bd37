// Sums and products of sparse and dense tensors.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_tensor_dense_op {
namespace {

result<shapes> infer_sparse_tensor_dense_add(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  auto joint = merge(sparse_shape.dims, at.input(3));
  if (joint)
    return shapes{*std::move(joint)};
  return at.invalid("the sparse tensor has shape ", sparse_shape.dims, ", the dense one ",
                    at.input(3));
}

edges sparse_tensor_dense_add_gradient(gradient_context& at) {
  auto dy = at.output_gradient(0);
  auto indices = cast_to(at.input(0), dtype::i64), dims = cast_to(at.input(2), dtype::i64);
  return {{}, dense_at(indices, at.input(1), dims, dy), {}, dy};
}

result<shapes> infer_sparse_tensor_dense_matmul(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  TROUPE_ASSIGN(auto b, at.of_rank(3, 2));
  TROUPE_ASSIGN(auto a, merge(sparse_shape.dims, partial_shape::of_rank(2)));
  int across_a = at.attr<bool>("adjoint_a") ? 1 : 0, across_b = at.attr<bool>("adjoint_b") ? 1 : 0;
  auto inner_a = a[1 - across_a], inner_b = b[across_b];
  if (inner_a != inner_b && std::min(inner_a, inner_b) != unknown_extent)
    return at.invalid("the inner extents ", inner_a, " of a ", a, across_a ? " (transposed)" : "",
                      " and ", inner_b, " of b ", b, across_b ? " (transposed)" : "", " differ");
  return shapes{{a[across_a], b[1 - across_b]}};
}

edge adjoint_of(edge x) {
  return conjugate(build("Transpose", {x, constant_like(x, tensor::vector<int32_t>({1, 0}))}));
}

// db = a' * dy, transposed where b was. Each element of a is paired with a row of dy and a row of
// b.
edges sparse_tensor_dense_matmul_gradient(gradient_context& at) {
  auto indices = at.input(0), values = at.input(1), dims = at.input(2), b = at.input(3);
  auto across_a = at.attr<bool>("adjoint_a"), across_b = at.attr<bool>("adjoint_b");
  auto dy = at.output_gradient(0);
  auto db =
      build("SparseTensorDenseMatMul", {indices, values, dims, dy}, {{"adjoint_a", !across_a}});
  auto coordinate = [&](int axis) {
    auto column =
        build("Slice", {indices, integers_like(dy, {0, axis}), integers_like(dy, {-1, 1})});
    return reshaped(column, integers_like(dy, {-1}));
  };
  auto dy_rows = build("Gather", {dy, coordinate(across_a ? 1 : 0)});
  auto b_rows = build("Gather", {across_b ? adjoint_of(b) : b, coordinate(across_a ? 0 : 1)});
  auto da = sum_over(dy_rows * conjugate(b_rows), {1});
  return {{}, across_a ? conjugate(da) : da, {}, across_b ? adjoint_of(db) : db};
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
    .effects = effect::forwardable,
    .infer = infer_sparse_tensor_dense_add,
    .gradient = sparse_tensor_dense_add_gradient,
    .example = R"(
y = SparseTensorDenseAdd(i32[[0, 1], [1, 0]], f32[1, 2], i32[2, 2], f32[[10, 20], [30, 40]])
fetch y = f32[[10, 21], [32, 40]]
)",
};

extern constexpr op_def sparse_tensor_dense_matmul{
    .name = "SparseTensorDenseMatMul",
    .doc = "Multiplies a sparse matrix by a dense one, each of them transposed and conjugated "
           "first if asked.\n\nThe order of the indices does not matter.",
    .inputs = {{"a_indices", "Tindices"}, {"a_values", "T"}, on_host("a_shape", "i64"), {"b", "T"}},
    .outputs = {{"product", "T"}},
    .attrs = {{"T", floating | complex_types | one_of(dtype::i32)},
              {"Tindices", index_types, dtype::i64},
              {"adjoint_a", false},
              {"adjoint_b", false}},
    .infer = infer_sparse_tensor_dense_matmul,
    .gradient = sparse_tensor_dense_matmul_gradient,
    .example = R"(
y = SparseTensorDenseMatMul(i64[[0, 1], [1, 0]], f32[2, 3], i64[2, 2], f32[[1, 10], [2, 20]])
z = SparseTensorDenseMatMul(i64[[0, 1]], f32[2], i64[2, 2],
                            f32[[1, 2]]) adjoint_a=true adjoint_b=true
fetch y = f32[[4, 40], [3, 30]]
fetch z = f32[[0], [2]]
)",
};

} // namespace troupe::ops::sparse_tensor_dense_op
