// SparseFillEmptyRowsGrad: the gradient of SparseFillEmptyRows.
#include "troupe/ops/sparse/shared/sparse.hpp"

namespace troupe::ops::sparse_fill_empty_rows_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto map, at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 1));
  return shapes{map, shape{}};
}

edges gradient(gradient_context& at) {
  auto map = at.input(0), given = at.input(1);
  auto to_values = gathered_in(given, at.output_gradient(0), map);
  // Those that went to no element went to the default value.
  auto went = gathered_in(given, build("OnesLike", {map}), map);
  auto others = cast_to(build("Equal", {went, zeros_of(went)}), given.type());
  return {{}, to_values + others * at.output_gradient(1)};
}

} // namespace

extern constexpr op_def sparse_fill_empty_rows_grad{
    .name = "SparseFillEmptyRowsGrad",
    .doc = "Hands gradients back to the elements that they came from, and the sum of the "
           "others to the default value.",
    .inputs = {{"reverse_index_map", "i64"}, {"grad_values", "T"}},
    .outputs = {{"d_values", "T"}, {"d_default_value", "T"}},
    .attrs = {{"T", numbers}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
dx = SparseFillEmptyRowsGrad(i64[2, 0], f32[1, 10, 2, 20])
fetch dx = f32[2, 1]
fetch dx:1 = f32(30)
)",
};

} // namespace troupe::ops::sparse_fill_empty_rows_grad_op
