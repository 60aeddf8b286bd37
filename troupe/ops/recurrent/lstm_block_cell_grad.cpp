// LSTMBlockCellGrad: from a step of long short-term memory back to its gates.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::lstm_block_cell_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto joined, join_lstm(at, 0));
  return shapes{joined.outputs(), joined.outputs(4), at.input(4), at.input(5), at.input(6)};
}

} // namespace

extern constexpr op_def lstm_block_cell_grad{
    .name = "LSTMBlockCellGrad",
    .doc =
        "Computes the gradients of what an LSTMBlockCell adds up.\n\n"
        "dicfo are those of [i, ci, f, o] before their sigmoids and tanh, from which those of x, "
        "h_prev, w and b follow as those of a product. Cells that were clipped count as if they "
        "had not been. The gradients of the peepholes are zeros unless use_peephole is true.",
    .inputs = {{"x", "T"},
               {"cs_prev", "T"},
               {"h_prev", "T"},
               {"w", "T"},
               {"wci", "T"},
               {"wcf", "T"},
               {"wco", "T"},
               {"b", "T"},
               {"i", "T"},
               {"cs", "T"},
               {"f", "T"},
               {"o", "T"},
               {"ci", "T"},
               {"co", "T"},
               {"cs_grad", "T"},
               {"h_grad", "T"}},
    .outputs = {{"cs_prev_grad", "T"},
                {"dicfo", "T"},
                {"wci_grad", "T"},
                {"wcf_grad", "T"},
                {"wco_grad", "T"}},
    .attrs = {{"use_peephole", attr_kind::boolean}, {"T", recurrent_types}},
    .infer = infer,
    .no_gradient = "second derivatives of LSTMs are not defined",
    .example = R"(
y = LSTMBlockCell(f32[[0.5, -0.25]], f32[[0.5]], f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1,
    0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5], f32[-0.5], f32[1],
    f32[0, 0.1, 0.2, 0.3]) use_peephole=true
dy = LSTMBlockCellGrad(f32[[0.5, -0.25]], f32[[0.5]], f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0,
    1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5], f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3], y, y:1,
    y:2, y:3, y:4, y:5, f32[[0]], f32[[1]]) use_peephole=true
fetch dy = f32[[0.4505836]]
fetch dy:1 = f32[[0.01428789, 0.482405, 0.07312946, 0.07885048]]
)",
};

} // namespace troupe::ops::lstm_block_cell_grad_op
