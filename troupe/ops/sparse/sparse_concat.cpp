// SparseConcat: joins sparse tensors along an axis.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_concat_op {
namespace {

result<shapes> infer(const infer_context& at) {
  auto parts = at.inputs() / 3;
  int64_t count = 0;
  auto rank = unknown_extent;
  for (int i = 0; i < parts; ++i) {
    TROUPE_ASSIGN(auto known, infer_sparse(at, {i, parts + i, 2 * parts + i}));
    if (known.count == unknown_extent || count == unknown_extent)
      count = unknown_extent;
    else if (__builtin_add_overflow(count, known.count, &count))
      return at.invalid("the tensors have too many elements together");
    TROUPE_ASSIGN(auto same, merge(partial_shape{rank}, partial_shape{known.index_dims()[1]}));
    rank = same[0];
  }
  if (rank != unknown_extent)
    TROUPE_TRY(resolve_axis(at.attr<int64_t>("concat_dim"), static_cast<int>(rank)));
  return shapes{{count, rank}, {count}, {rank}};
}

// Numbers that are joined along with the elements say where each of them came from.
edges gradient(gradient_context& at) {
  int parts = at.inputs() / 3;
  auto dy = at.output_gradient(1), axis = constant_like(dy, tensor::scalar(int32_t{0}));
  std::vector<edge> sizes, inputs;
  for (int i = 0; i < parts; ++i)
    sizes.push_back(build("Size", {at.input(parts + i)}, {{"out_type", dtype::i64}}));
  auto extents = build("Pack", sizes);
  auto cut = [&](edge x) {
    return build("SplitV", {x, extents, axis}, {{"num_split", int64_t{parts}}});
  };
  auto numbers = cut(numbers_of(dy));
  for (int i = 0; i < 3 * parts; ++i)
    inputs.push_back(i / parts == 1 ? edge{numbers.node, i - parts} : at.input(i));
  auto came_from =
      build("SparseConcat", inputs, {{"concat_dim", at.attr<int64_t>("concat_dim")}}, 1);
  auto dx = cut(put_back(dy, came_from));
  edges found(static_cast<size_t>(at.inputs()));
  for (int i = 0; dx && i < parts; ++i)
    found[static_cast<size_t>(parts + i)] = {dx.node, i};
  return found;
}

} // namespace

extern constexpr op_def sparse_concat{
    .name = "SparseConcat",
    .doc = "Joins sparse tensors along an axis, which may be negative.\n\nTheir shapes must be "
           "the same but for that axis. The elements of the result are in order.",
    .inputs = {{"indices", "i64", "N"}, {"values", "T", "N"}, on_host("shapes", "i64", "N")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}, {"output_shape", "i64"}},
    .attrs = {{"concat_dim", attr_kind::integer}, {"N", at_least{2}}, {"T", any_type}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = SparseConcat(i64[[0, 1], [1, 0]], i64[[0, 0]], f32[1, 2], f32[3],
                 i64[2, 2], i64[2, 1]) concat_dim=1
fetch y = i64[[0, 1], [0, 2], [1, 0]]
fetch y:1 = f32[1, 3, 2]
fetch y:2 = i64[2, 3]
)",
};

} // namespace troupe::ops::sparse_concat_op
