// One step of an LSTM layer, and its gradient.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::lstm_block_cell_op {
namespace {

edges gradient(gradient_context& at) {
  if (auto outcome = only_outputs(at, {1, 6}); !outcome)
    return at.fail(outcome.message());
  std::vector<edge> inputs;
  for (int i = 0; i < at.inputs(); ++i)
    inputs.push_back(at.input(i));
  for (int i = 0; i < 6; ++i)
    inputs.push_back(at.output(i));
  inputs.push_back(at.output_gradient(1));
  inputs.push_back(at.output_gradient(6));
  auto cs_prev =
      at.op("LSTMBlockCellGrad", inputs, {{"use_peephole", at.attr<bool>("use_peephole")}});
  if (!cs_prev)
    return edges(8);
  auto from = [&](int i) { return edge{cs_prev.node, i}; };
  auto gates = from(1);
  auto [x, h_prev, w] = joint_product_gradients(at.input(0), at.input(2), at.input(3), gates);
  return {x, cs_prev, h_prev, w, from(2), from(3), from(4), build("BiasAddGrad", {gates})};
}

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto joined, join_lstm(at, 0));
  return shapes{joined.outputs(), joined.outputs(4), at.input(4), at.input(5), at.input(6)};
}

} // namespace

extern constexpr op_def lstm_block_cell{
    .name = "LSTMBlockCell",
    .doc =
        "Computes one step of long short-term memory for a batch.\n\n"
        "With [i, ci, f, o] = [x, h_prev] * w + b, each of them a number for each cell:\n\n"
        "    i = sigmoid(i + cs_prev * wci)\n"
        "    f = sigmoid(f + cs_prev * wcf + forget_bias)\n"
        "    ci = tanh(ci)\n"
        "    cs = clip(ci * i + cs_prev * f)\n"
        "    o = sigmoid(o + cs * wco)\n"
        "    co = tanh(cs)\n"
        "    h = co * o\n\n"
        "The weights wci, wcf and wco of the peepholes count as zeros unless use_peephole is true. "
        "cs is kept within +-cell_clip if that is positive.",
    .inputs = {{"x", "T"},
               {"cs_prev", "T"},
               {"h_prev", "T"},
               {"w", "T"},
               {"wci", "T"},
               {"wcf", "T"},
               {"wco", "T"},
               {"b", "T"}},
    .outputs = lstm_outputs,
    .attrs = {{"forget_bias", 1.0},
              {"cell_clip", 3.0},
              {"use_peephole", false},
              {"T", recurrent_types}},
    .infer = infer_lstm<0>,
    .gradient = gradient,
    .example = R"(
y = LSTMBlockCell(f32[[0.5, -0.25]], f32[[0.5]], f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1,
    0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5], f32[-0.5], f32[1],
    f32[0, 0.1, 0.2, 0.3]) use_peephole=true
z = LSTMBlockCell(f32[[0.5, -0.25]], f32[[0.5]], f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1,
    0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5], f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3])
fetch y:1 = f32[[0.4179925]]
fetch y:6 = f32[[0.2864365]]
fetch z:1 = f32[[0.4376926]]
fetch z:6 = f32[[0.2610927]]
)",
};

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

} // namespace troupe::ops::lstm_block_cell_op
