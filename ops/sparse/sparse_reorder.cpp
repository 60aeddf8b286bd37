// Reorders and reshapes sparse tensors.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_reorder_op {
namespace {

result<shapes> infer_sparse_reorder(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  return shapes{sparse_shape.index_dims(), {sparse_shape.count}};
}

// Element numbers, reordered in the same way, give each element's source.
edges gradient(gradient_context& at) {
  auto came_from =
      build("SparseReorder", {at.input(0), numbers_of(at.input(1)), at.input(2)}, {}, 1);
  return {{}, put_back(at.output_gradient(1), came_from), {}};
}

result<shapes> infer_sparse_reshape(const infer_context& at) {
  TROUPE_ASSIGN(auto indices, at.of_rank(0, 2));
  TROUPE_ASSIGN(auto old_shape, at.of_rank(1, 1));
  TROUPE_ASSIGN(auto new_shape, at.of_rank(2, 1));
  if (indices[1] != unknown_extent && old_shape[0] != unknown_extent && indices[1] != old_shape[0])
    return at.invalid("indices ", indices, " have ", indices[1],
                      " coordinates each, the dense shape lists ", old_shape[0], " extents");
  return shapes{{indices[0], new_shape[0]}, new_shape};
}

} // namespace

extern constexpr op_def sparse_reorder{
    .name = "SparseReorder",
    .doc = "Puts the elements of a sparse tensor in the lexicographic order of their "
           "indices.\n\nElements with the same index keep their order.",
    .inputs = {{"input_indices", "i64"}, {"input_values", "T"}, on_host("input_shape", "i64")},
    .outputs = {{"output_indices", "i64"}, {"output_values", "T"}},
    .attrs = {{"T", any_type}},
    .infer = infer_sparse_reorder,
    .gradient = gradient,
    .example = R"(
i = SparseReorder(i64[[1, 2], [0, 1], [1, 0]], f32[3, 1, 2], i64[2, 3])
fetch i = i64[[0, 1], [1, 0], [1, 2]]
fetch i:1 = f32[1, 2, 3]
)",
};

extern constexpr op_def sparse_reshape{
    .name = "SparseReshape",
    .doc = "Gives a sparse tensor another shape of as many elements, counting those that are "
           "not there.\n\nOne extent of new_shape may be -1, which then follows from the "
           "others. Values, and their order, stay as they are.",
    .inputs = {{"input_indices", "i64"},
               on_host("input_shape", "i64"),
               on_host("new_shape", "i64")},
    .outputs = {{"output_indices", "i64"}, {"output_shape", "i64"}},
    .infer = infer_sparse_reshape,
    .no_gradient = "indices and shapes are whole numbers",
    .example = R"(
y = SparseReshape(i64[[0, 1], [1, 0], [1, 2]], i64[2, 3], i64[3, -1])
fetch y = i64[[0, 1], [1, 1], [2, 1]]
fetch y:1 = i64[3, 2]
)",
};

} // namespace troupe::ops::sparse_reorder_op
