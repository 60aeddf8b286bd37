// BlockLSTM: long short-term memory over a sequence.
#include "troupe/ops/recurrent/shared/recurrent.hpp"

namespace troupe::ops::block_lstm_op {
namespace {

edges gradient(gradient_context& at) { return sequence_gradient(at, "BlockLSTMGrad"); }

} // namespace

extern constexpr op_def block_lstm = lstm_sequence({
    .name = "BlockLSTM",
    .doc = "Computes long short-term memory over a whole sequence.\n\n"
           "Step t of it is an LSTMBlockCell on x[t] and the cs and h of the step before, cs_prev "
           "and h_prev for the first. From step seq_len_max on, all outputs are zeros. What x "
           "contributes is one product for all steps.",
    .attrs =
        {{"forget_bias", 1.0}, {"cell_clip", 3.0}, {"use_peephole", false}, {"T", recurrent_types}},
    .gradient = gradient,
    .example = R"(
y = BlockLSTM(i64(2), f32[[[0.5, -0.25]], [[-0.5, 0.25]], [[0.5, -0.25]]], f32[[0.5]],
    f32[[0.25]], f32[[1, 0.5, -0.5, 0.25], [0, 1, 0.5, -1], [0.5, 0, 1, -0.5]], f32[0.5],
    f32[-0.5], f32[1], f32[0, 0.1, 0.2, 0.3]) use_peephole=true
fetch y:1 = f32[[[0.4179925]], [[0.3969463]], [[0]]]
fetch y:6 = f32[[[0.2864365]], [[0.2054818]], [[0]]]
)",
});

} // namespace troupe::ops::block_lstm_op
