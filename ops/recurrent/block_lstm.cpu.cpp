#include "troupe/ops/recurrent/shared/lstm.cpu.hpp"

namespace troupe::ops::block_lstm_cpu {

extern constexpr kernel_def block_lstm_cpu{
    .op = "BlockLSTM",
    .run = lstm_forward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<icfo>,
};

extern constexpr kernel_def block_lstm_v2_cpu{
    .op = "BlockLSTMV2",
    .run = lstm_forward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<ifco>,
};

extern constexpr kernel_def block_lstm_grad_cpu{
    .op = "BlockLSTMGrad",
    .run = lstm_backward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<icfo>,
};

extern constexpr kernel_def block_lstm_grad_v2_cpu{
    .op = "BlockLSTMGradV2",
    .run = lstm_backward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<ifco>,
};

} // namespace troupe::ops::block_lstm_cpu
