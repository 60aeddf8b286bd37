// One step of a GRU layer, and its gradient.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::gru_block_cell_op {
namespace {

edges gradient(gradient_context& at) {
  if (auto outcome = only_outputs(at, {3}); !outcome)
    return at.fail(outcome.message());
  std::vector<edge> inputs;
  for (int i = 0; i < at.inputs(); ++i)
    inputs.push_back(at.input(i));
  for (int i = 0; i < 3; ++i)
    inputs.push_back(at.output(i));
  inputs.push_back(at.output_gradient(3));
  auto x_grad = at.op("GRUBlockCellGrad", inputs);
  if (!x_grad)
    return edges(6);
  auto from = [&](int i) { return edge{x_grad.node, i}; };
  auto x = at.input(0), h_prev = at.input(1), r = at.output(0), d_c = from(2), d_ru = from(3);
  return {x_grad,
          from(1),
          joint_weights_gradient(x, h_prev, d_ru),
          joint_weights_gradient(x, h_prev * r, d_c),
          build("BiasAddGrad", {d_ru}),
          build("BiasAddGrad", {d_c})};
}

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto state, infer_gru<1>(at));
  auto gates = state[0];
  if (gates[1] != unknown_extent)
    gates.set(1, 2 * gates[1]);
  TROUPE_ASSIGN(auto x, at.of_rank(0, 2));
  return shapes{x, state[0], state[0], gates};
}

} // namespace

extern constexpr op_def gru_block_cell{
    .name = "GRUBlockCell",
    .doc = "Computes one step of a gated recurrent unit for a batch.\n\n"
           "    [r, u] = sigmoid([x, h_prev] * w_ru + b_ru)\n"
           "    c = tanh([x, h_prev * r] * w_c + b_c), where h_prev * r is element by element\n"
           "    h = (1 - u) * c + u * h_prev",
    .inputs = gru_inputs,
    .outputs = {{"r", "T"}, {"u", "T"}, {"c", "T"}, {"h", "T"}},
    .attrs = {{"T", gru_types}},
    .infer = infer_gru<4>,
    .gradient = gradient,
    .example = R"(
y = GRUBlockCell(f32[[0.5, -0.25]], f32[[0.25]], f32[[1, 0.5], [0, 1], [0.5, 0]], f32[[0.5], [-1],
    [2]], f32[1, 0.5], f32[0.25])
fetch y = f32[[0.8354836]]
fetch y:1 = f32[[0.6224594]]
fetch y:2 = f32[[0.8235469]]
fetch y:3 = f32[[0.4665373]]
)",
};

extern constexpr op_def gru_block_cell_grad{
    .name = "GRUBlockCellGrad",
    .doc = "Computes the gradients of a GRUBlockCell's x and h_prev, and of what it adds up.\n\n"
           "d_c_bar and d_r_bar_u_bar are the gradients of c and [r, u] before tanh and sigmoid, "
           "from which those of the weights follow as those of a product.",
    .inputs = {{"x", "T"},
               {"h_prev", "T"},
               {"w_ru", "T"},
               {"w_c", "T"},
               {"b_ru", "T"},
               {"b_c", "T"},
               {"r", "T"},
               {"u", "T"},
               {"c", "T"},
               {"d_h", "T"}},
    .outputs = {{"d_x", "T"}, {"d_h_prev", "T"}, {"d_c_bar", "T"}, {"d_r_bar_u_bar", "T"}},
    .attrs = {{"T", gru_types}},
    .infer = infer,
    .no_gradient = "second derivatives of GRUs are not defined",
    .example = R"(
y = GRUBlockCell(f32[[0.5, -0.25]], f32[[0.25]], f32[[1, 0.5], [0, 1], [0.5, 0]], f32[[0.5], [-1],
    [2]], f32[1, 0.5], f32[0.25])
dy = GRUBlockCellGrad(f32[[0.5, -0.25]], f32[[0.25]], f32[[1, 0.5], [0, 1], [0.5, 0]], f32[[0.5],
    [-1], [2]], f32[1, 0.5], f32[0.25], y, y:1, y:2, f32[[1]])
fetch dy = f32[[0.001696773, -0.2562671]]
fetch dy:1 = f32[[0.8296253]]
fetch dy:2 = f32[[0.1214815]]
fetch dy:3 = f32[[0.008348862, -0.1347856]]
)",
};

} // namespace troupe::ops::gru_block_cell_op
