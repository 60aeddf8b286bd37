// SparseSplit: cuts a sparse tensor into blocks.
#include "troupe/ops/sparse/sparse.hpp"

namespace troupe::ops {
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
    .no_gradient = "not written yet, as in TensorFlow",
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

} // namespace troupe::ops
