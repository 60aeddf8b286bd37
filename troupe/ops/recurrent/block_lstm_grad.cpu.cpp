#include "troupe/ops/recurrent/shared/lstm.cpu.hpp"

namespace troupe::ops::block_lstm_grad_cpu {

extern constexpr kernel_def block_lstm_grad_cpu{
    .op = "BlockLSTMGrad",
    .run = lstm_backward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<icfo>,
};

} // namespace troupe::ops::block_lstm_grad_cpu
