#include "troupe/ops/recurrent/shared/lstm.cuda.hpp"

namespace troupe::ops::lstm_block_cell_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(lstm_block_cell){
    .op = "LSTMBlockCell",
    .device = device_kind::gpu,
    .run = gpu::lstm_forward_kernels<lstm_span::step>,
    .prepare = prepare_lstm<icfo>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(lstm_block_cell_grad){
    .op = "LSTMBlockCellGrad",
    .device = device_kind::gpu,
    .run = gpu::lstm_backward_kernels<lstm_span::step>,
    .prepare = prepare_lstm<icfo>,
};

} // namespace troupe::ops::lstm_block_cell_gpu
