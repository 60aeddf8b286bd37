#include "troupe/ops/recurrent/shared/lstm.cuda.hpp"

namespace troupe::ops::block_lstm_gpu {

extern constexpr kernel_def TROUPE_GPU_KERNEL(block_lstm){
    .op = "BlockLSTM",
    .device = device_kind::gpu,
    .run = gpu::lstm_forward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<icfo>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(block_lstm_v2){
    .op = "BlockLSTMV2",
    .device = device_kind::gpu,
    .run = gpu::lstm_forward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<ifco>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(block_lstm_grad){
    .op = "BlockLSTMGrad",
    .device = device_kind::gpu,
    .run = gpu::lstm_backward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<icfo>,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(block_lstm_grad_v2){
    .op = "BlockLSTMGradV2",
    .device = device_kind::gpu,
    .run = gpu::lstm_backward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<ifco>,
};

} // namespace troupe::ops::block_lstm_gpu
