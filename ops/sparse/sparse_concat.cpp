// Concatenates sparse tensors along an axis, and splits them.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_concat_op {
namespace {

result<shapes> infer_sparse_concat(const infer_context& at) {
  auto parts = at.inputs() / 3;
  int64_t count = 0;
  auto rank = unknown_extent;
  for (int i = 0; i < parts; ++i) {
    TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, {i, parts + i, 2 * parts + i}));
    if (sparse_shape.count == unknown_extent || count == unknown_extent)
      count = unknown_extent;
    else if (__builtin_add_overflow(count, sparse_shape.count, &count))
      return at.invalid("the tensors have too many elements together");
    TROUPE_ASSIGN(auto same,
                  merge(partial_shape{rank}, partial_shape{sparse_shape.index_dims()[1]}));
    rank = same[0];
  }
  if (rank != unknown_extent)
    TROUPE_TRY(resolve_axis(at.attr<int64_t>("concat_dim"), static_cast<int>(rank)));
  return shapes{{count, rank}, {count}, {rank}};
}

// Element numbers, concatenated in the same way, give each element's source.
edges sparse_concat_gradient(gradient_context& at) {
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
  edges gradients(static_cast<size_t>(at.inputs()));
  for (int i = 0; dx && i < parts; ++i)
    gradients[static_cast<size_t>(parts + i)] = {dx.node, i};
  return gradients;
}

result<shapes> infer_sparse_split(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{1}));
  auto rank = sparse_shape.index_dims()[1];
  auto count = static_cast<size_t>(at.attr<int64_t>("num_split"));
  shapes outputs(count, {unknown_extent, rank});
  outputs.insert(outputs.end(), count, {unknown_extent});
  outputs.insert(outputs.end(), count, {rank});
  return outputs;
}

// Element numbers, split in the same way, give each element's source.
edges sparse_split_gradient(gradient_context& at) {
  auto count = static_cast<int>(at.attr<int64_t>("num_split"));
  auto cut = build("SparseSplit", {at.input(0), at.input(1), numbers_of(at.input(2)), at.input(3)},
                   {{"num_split", int64_t{count}}}, count);
  if (!cut)
    return {{}, {}, {}, {}};
  auto axis = constant_like(cut, tensor::scalar(int32_t{0}));
  std::vector<edge> gradients{axis}, came_from{axis};
  for (int i = count; i < 2 * count; ++i) {
    gradients.push_back(at.output_gradient(i));
    came_from.push_back({cut.node, i});
  }
  return {{}, {}, put_back(build("Concat", gradients), build("Concat", came_from)), {}};
}

} // namespace

extern constexpr op_def sparse_concat{
    .name = "SparseConcat",
    .doc = "Joins sparse tensors along an axis, which may be negative.\n\nTheir shapes must be "
           "the same but for that axis. The elements of the result are in order.",
    .inputs = {{"indices", "i64", "N"}, {"values", "T", "N"}, on_host("shapes", "i64", "N")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}, {"output_shape", "i64"}},
    .attrs = {{"concat_dim", attr_kind::integer}, {"N", at_least{2}}, {"T", any_type}},
    .infer = infer_sparse_concat,
    .gradient = sparse_concat_gradient,
    .example = R"(
y = SparseConcat(i64[[0, 1], [1, 0]], i64[[0, 0]], f32[1, 2], f32[3],
                 i64[2, 2], i64[2, 1]) concat_dim=1
fetch y = i64[[0, 1], [0, 2], [1, 0]]
fetch y:1 = f32[1, 3, 2]
fetch y:2 = i64[2, 3]
)",
};

extern constexpr op_def sparse_split{
    .name = "SparseSplit",
    .doc = "Cuts a sparse tensor into num_split blocks along an axis.\n\nWhere the extent is "
           "no multiple of num_split, the first blocks are longer by one. Elements keep their "
           "order.",
    .inputs = {on_host("split_dim", "i64"),
               {"indices", "i64"},
               {"values", "T"},
               on_host("shape", "i64")},
    .outputs = {{"output_indices", "i64", "num_split"},
                {"output_values", "T", "num_split"},
                {"output_shape", "i64", "num_split"}},
    .attrs = {{"num_split", at_least{1}}, {"T", any_type}},
    .infer = infer_sparse_split,
    .gradient = sparse_split_gradient,
    .example = R"(
y = SparseSplit(i64(1), i64[[0, 1], [1, 0], [1, 2]], f32[1, 2, 3], i64[2, 3]) num_split=2
fetch y = i64[[0, 1], [1, 0]]
fetch y:1 = i64[[1, 0]]
fetch y:2 = f32[1, 2]
fetch y:3 = f32[3]
fetch y:4 = i64[2, 2]
fetch y:5 = i64[2, 1]
)",
};

} // namespace troupe::ops::sparse_concat_op
