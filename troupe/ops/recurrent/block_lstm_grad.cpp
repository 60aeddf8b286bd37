// BlockLSTMGrad: from a sequence of long short-term memory back to its inputs and weights.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::block_lstm_grad_op {

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

} // namespace troupe::ops::block_lstm_grad_op
