// BlockLSTMV2: long short-term memory over a sequence, the gates as cuDNN has them.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::block_lstm_v2_op {
namespace {

edges gradient(gradient_context& at) { return sequence_gradient(at, "BlockLSTMGradV2"); }

} // namespace

extern constexpr op_def block_lstm_v2 = lstm_sequence({
    .name = "BlockLSTMV2",
    .doc = "Computes a BlockLSTM whose w and b have the gates in another order.\n\n"
           "Theirs is [i, f, ci, o]; there is no forget_bias: b is to have it.",
    .attrs = {{"cell_clip", 0.0}, {"use_peephole", false}, {"T", recurrent_types}},
    .gradient = gradient,
    .example = R"(
y = BlockLSTMV2(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3]) use_peephole=true
fetch y:1 = f32[[[0.2841199]], [[0.4199643]], [[0]]]
fetch y:6 = f32[[[0.1929319]], [[0.2229813]], [[0]]]
)",
});

} // namespace troupe::ops::block_lstm_v2_op
