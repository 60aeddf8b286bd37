// SparseToDense: a dense tensor of a default value with some elements set.
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_to_dense_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(3, 0));
  const auto &indices = at.input(0), &values = at.input(2);
  if (indices.has_rank() && indices.rank() > 2)
    return at.invalid("indices must have at most 2 axes, got shape ", indices);
  if (values.has_rank() && values.rank() > 1)
    return at.invalid("values must be a scalar or a vector, got shape ", values);
  TROUPE_ASSIGN(auto dims, listed_extents(at, 1));
  return shapes{dims};
}

// Each set element gets its element of the gradient, the default value gets the sum of the others.
edges gradient(gradient_context& at) {
  auto dy = at.output_gradient(0), values = at.input(2);
  auto dims = cast_to(at.input(1), dtype::i64);
  auto rank = build("Size", {dims}, {{"out_type", dtype::i64}});
  auto any = constant_like(dy, tensor::scalar(int64_t{-1}));
  auto indices = reshaped(cast_to(at.input(0), dtype::i64), build("Pack", {any, rank}));
  auto count = build("Slice", {shape_of(indices), integers_like(dy, {0}), integers_like(dy, {1})});
  auto ones = build("Fill", {count, scalar_like(dy, 1)});
  auto set = dense_at(indices, ones, dims, dy);
  auto gradient_sum = sum_over(reshaped(dy, integers_like(dy, {-1})), {0});
  return {{}, {}, unbroadcast(set, values, set), gradient_sum - sum_over(set, {0})};
}

} // namespace

extern constexpr op_def sparse_to_dense{
    .name = "SparseToDense",
    .doc = "Fills a tensor with default_value, and sets the elements that sparse_indices "
           "names.\n\nsparse_indices lists indices [count, rank]; a vector lists elements of a "
           "vector, a scalar is one such. sparse_values has a value for each, or is a scalar "
           "for all. With validate_indices they must be in lexicographic order, each once; "
           "otherwise the last one counts.",
    .inputs = {{"sparse_indices", "Tindices"},
               on_host("output_shape", "Tindices"),
               {"sparse_values", "T"},
               {"default_value", "T"}},
    .outputs = {{"dense", "T"}},
    .attrs = {{"validate_indices", true}, {"T", any_type}, {"Tindices", index_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SparseToDense(i32[[0, 1], [1, 2]], i32[2, 3], f32[5, 6], f32(-1))
fetch y = f32[[-1, 5, -1], [-1, -1, 6]]
)",
};

} // namespace troupe::ops::sparse_to_dense_op
