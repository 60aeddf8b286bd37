// GRUBlockCellGrad: from a step of a gated recurrent unit back to its inputs and gates.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::gru_block_cell_grad_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_ASSIGN(auto state, infer_gru<1>(at));
  auto gates = state[0];
  if (gates[1] != unknown_extent)
    gates.set(1, 2 * gates[1]);
  TROUPE_ASSIGN(auto x, at.of_rank(0, 2));
  return shapes{x, state[0], state[0], gates};
}

} // namespace

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

} // namespace troupe::ops::gru_block_cell_grad_op
