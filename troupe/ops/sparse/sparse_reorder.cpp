// SparseReorder: puts the elements in order.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_reorder_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto known, infer_sparse(at, sparse_inputs{0}));
  return shapes{known.index_dims(), {known.count}};
}

// Numbers that are put in order along with the elements say where each of them came from.
edges gradient(gradient_context& at) {
  auto came_from =
      build("SparseReorder", {at.input(0), numbers_of(at.input(1)), at.input(2)}, {}, 1);
  return {{}, put_back(at.output_gradient(1), came_from), {}};
}

} // namespace

extern constexpr op_def sparse_reorder{
    .name = "SparseReorder",
    .doc = "Puts the elements of a sparse tensor in the lexicographic order of their "
           "indices.\n\nElements with the same index keep their order.",
    .inputs = {{"input_indices", "i64"}, {"input_values", "T"}, on_host("input_shape", "i64")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
i = SparseReorder(i64[[1, 2], [0, 1], [1, 0]], f32[3, 1, 2], i64[2, 3])
fetch i = i64[[0, 1], [1, 0], [1, 2]]
fetch i:1 = f32[1, 2, 3]
)",
};

} // namespace troupe::ops::sparse_reorder_op
