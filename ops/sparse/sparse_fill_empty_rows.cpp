// Fills empty rows of sparse tensors with an element, and the gradient.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_fill_empty_rows_op {
namespace {

result<shapes> infer_sparse_fill_empty_rows(const infer_context& at) {
  TROUPE_ASSIGN(auto sparse_shape, infer_sparse(at, sparse_inputs{0}));
  TROUPE_TRY(at.of_rank(3, 0));
  if (sparse_shape.dims.rank() == 0)
    return at.invalid("the sparse tensor must have rows, got a scalar");
  auto rows = sparse_shape.dims.has_rank() ? sparse_shape.dims[0] : unknown_extent;
  return shapes{{unknown_extent, sparse_shape.index_dims()[1]},
                {unknown_extent},
                {rows},
                {sparse_shape.count}};
}

edges sparse_fill_empty_rows_gradient(gradient_context& at) {
  std::vector<edge> inputs{at.output(3), at.output_gradient(1)};
  return {{},
          build("SparseFillEmptyRowsGrad", inputs),
          {},
          build("SparseFillEmptyRowsGrad", inputs, {}, 1)};
}

result<shapes> infer_sparse_fill_empty_rows_grad(const infer_context& at) {
  TROUPE_ASSIGN(auto map, at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 1));
  return shapes{map, shape{}};
}

edges sparse_fill_empty_rows_grad_gradient(gradient_context& at) {
  auto map = at.input(0), given = at.input(1);
  auto to_values = gathered_in(given, at.output_gradient(0), map);
  // Gradients without an original element belong to the default value.
  auto went = gathered_in(given, build("OnesLike", {map}), map);
  auto is_default = cast_to(build("Equal", {went, zeros_of(went)}), given.type());
  return {{}, to_values + is_default * at.output_gradient(1)};
}

} // namespace

extern constexpr op_def sparse_fill_empty_rows{
    .name = "SparseFillEmptyRows",
    .doc = "Adds an element with default_value, in the first column, to each row that has "
           "none.\n\nThe output is ordered by rows. empty_row_indicator says which rows were "
           "empty, reverse_index_map where each element went.",
    .inputs = {{"indices", "i64"},
               {"values", "T"},
               on_host("dense_shape", "i64"),
               {"default_value", "T"}},
    .outputs = {{"output_indices", "i64"},
                {"output_values", "T"},
                {"empty_row_indicator", "bool"},
                {"reverse_index_map", "i64"}},
    .attrs = {{"T", any_type}},
    .infer = infer_sparse_fill_empty_rows,
    .gradient = sparse_fill_empty_rows_gradient,
    .example = R"(
y = SparseFillEmptyRows(i64[[2, 1], [0, 0]], f32[1, 2], i64[4, 2], f32(9))
fetch y = i64[[0, 0], [1, 0], [2, 1], [3, 0]]
fetch y:1 = f32[2, 9, 1, 9]
fetch y:2 = bool[false, true, false, true]
fetch y:3 = i64[2, 0]
)",
};

extern constexpr op_def sparse_fill_empty_rows_grad{
    .name = "SparseFillEmptyRowsGrad",
    .doc = "Hands gradients back to the elements that they came from, and the sum of the "
           "others to the default value.",
    .inputs = {{"reverse_index_map", "i64"}, {"grad_values", "T"}},
    .outputs = {{"d_values", "T"}, {"d_default_value", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer_sparse_fill_empty_rows_grad,
    .gradient = sparse_fill_empty_rows_grad_gradient,
    .example = R"(
dx = SparseFillEmptyRowsGrad(i64[2, 0], f32[1, 10, 2, 20])
fetch dx = f32[2, 1]
fetch dx:1 = f32(30)
)",
};

} // namespace troupe::ops::sparse_fill_empty_rows_op
