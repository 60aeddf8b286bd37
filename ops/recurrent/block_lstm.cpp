// LSTM layers over a sequence, and their gradients. The versions differ in the order of gates.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::block_lstm_op {
namespace {

edges block_lstm_gradient(gradient_context& at) { return sequence_gradient(at, "BlockLSTMGrad"); }

edges block_lstm_v2_gradient(gradient_context& at) {
  return sequence_gradient(at, "BlockLSTMGradV2");
}

} // namespace

extern constexpr op_def block_lstm = lstm_sequence({
    .name = "BlockLSTM",
    .doc = "Computes long short-term memory over a whole sequence.\n\n"
           "Step t of it is an LSTMBlockCell on x[t] and the cs and h of the step before, cs_prev "
           "and h_prev for the first. From step seq_len_max on, all outputs are zeros. What x "
           "contributes is one product for all steps.",
    .attrs =
        {{"forget_bias", 1.0}, {"cell_clip", 3.0}, {"use_peephole", false}, {"T", recurrent_types}},
    .gradient = block_lstm_gradient,
    .example = R"(
y = BlockLSTM(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3]) use_peephole=true
fetch y:1 = f32[[[0.4179925]], [[0.3969463]], [[0]]]
fetch y:6 = f32[[[0.2864365]], [[0.2054818]], [[0]]]
)",
});

extern constexpr op_def block_lstm_v2 = lstm_sequence({
    .name = "BlockLSTMV2",
    .doc = "Computes a BlockLSTM whose w and b have the gates in another order.\n\n"
           "Theirs is [i, f, ci, o]; there is no forget_bias: b is to have it.",
    .attrs = {{"cell_clip", 0.0}, {"use_peephole", false}, {"T", recurrent_types}},
    .gradient = block_lstm_v2_gradient,
    .example = R"(
y = BlockLSTMV2(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3]) use_peephole=true
fetch y:1 = f32[[[0.2841199]], [[0.4199643]], [[0]]]
fetch y:6 = f32[[[0.1929319]], [[0.2229813]], [[0]]]
)",
});

extern constexpr op_def block_lstm_grad = lstm_sequence_gradient({
    .name = "BlockLSTMGrad",
    .doc =
        "Computes the gradients of a BlockLSTM's inputs from those of its cs and h.\n\n"
        "Cells that were clipped count as if they had not been. The gradients of the peepholes are "
        "zeros unless use_peephole is true, as is that of x from step seq_len_max on.",
    .example = R"(
y = BlockLSTM(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3]) use_peephole=true
dy = BlockLSTMGrad(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3], y, y:1, y:2, y:3, y:4, y:5, y:6, f32{3,1,1}[0],
    f32{3,1,1}[1]) use_peephole=true
fetch dy = f32[[[0.3830614, 0.7835118]], [[0.1500057, 0.1792772]], [[0, 0]]]
fetch dy:7 = f32[0.03761684, 1.058052, 0.1530447, 0.1717857]
)",
});

extern constexpr op_def block_lstm_grad_v2 = lstm_sequence_gradient({
    .name = "BlockLSTMGradV2",
    .doc =
        "Computes the gradients of a BlockLSTMV2's inputs from those of its cs and h.\n\n"
        "Cells that were clipped count as if they had not been. The gradients of the peepholes are "
        "zeros unless use_peephole is true, as is that of x from step seq_len_max on.",
    .example = R"(
y = BlockLSTMV2(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3]) use_peephole=true
dy = BlockLSTMGradV2(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3], y, y:1, y:2, y:3, y:4, y:5, y:6, f32{3,1,1}[0],
    f32{3,1,1}[1]) use_peephole=true
fetch dy = f32[[[-0.2855178, 0.4589247]], [[0.06290853, 0.01524343]], [[0, 0]]]
fetch dy:7 = f32[0.1078146, 0.1780178, 0.9210537, 0.1643766]
)",
});

} // namespace troupe::ops::block_lstm_op
