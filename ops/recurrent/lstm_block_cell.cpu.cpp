#include "troupe/ops/recurrent/shared/lstm.cpu.hpp"

namespace troupe::ops::lstm_block_cell_cpu {

extern constexpr kernel_def lstm_block_cell_cpu{
    .op = "LSTMBlockCell",
    .run = lstm_forward_kernels<lstm_span::step>,
    .prepare = prepare_lstm<icfo>,
};

extern constexpr kernel_def lstm_block_cell_grad_cpu{
    .op = "LSTMBlockCellGrad",
    .run = lstm_backward_kernels<lstm_span::step>,
    .prepare = prepare_lstm<icfo>,
};

} // namespace troupe::ops::lstm_block_cell_cpu
