// SparseSplit: cuts a sparse tensor into blocks.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_split_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0));
  TROUPE_ASSIGN(auto known, infer_sparse(at, sparse_inputs{1}));
  auto rank = known.index_dims()[1];
  auto count = static_cast<size_t>(at.attr<int64_t>("num_split"));
  shapes outputs(count, {unknown_extent, rank});
  outputs.insert(outputs.end(), count, {unknown_extent});
  outputs.insert(outputs.end(), count, {rank});
  return outputs;
}

// Numbers that are cut along with the elements say where each of them came from.
edges gradient(gradient_context& at) {
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
    .infer = infer,
    .gradient = gradient,
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

} // namespace troupe::ops::sparse_split_op
