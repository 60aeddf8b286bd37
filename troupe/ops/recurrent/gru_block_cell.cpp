// GRUBlockCell: one step of a gated recurrent unit in one go.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::gru_block_cell_op {
namespace {

edges gradient(gradient_context& at) {
  if (auto outcome = only_outputs(at, {3}); !outcome)
    return at.fail(outcome.message());
  std::vector<edge> all;
  for (int i = 0; i < at.inputs(); ++i)
    all.push_back(at.input(i));
  for (int i = 0; i < 3; ++i)
    all.push_back(at.output(i));
  all.push_back(at.output_gradient(3));
  auto x_grad = at.op("GRUBlockCellGrad", all);
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

} // namespace troupe::ops::gru_block_cell_op
