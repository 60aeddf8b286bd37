// SparseFillEmptyRowsGrad: the gradient of SparseFillEmptyRows.
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto map, at.of_rank(0, 1));
  TROUPE_TRY(at.of_rank(1, 1));
  return shapes{map, shape{}};
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
    .no_gradient = "not written yet, as in TensorFlow",
    .example = R"(
dx = SparseFillEmptyRowsGrad(i64[2, 0], f32[1, 10, 2, 20])
fetch dx = f32[2, 1]
fetch dx:1 = f32(30)
)",
};

} // namespace troupe::ops
