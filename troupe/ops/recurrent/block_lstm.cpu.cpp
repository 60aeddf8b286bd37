#include "troupe/ops/recurrent/shared/lstm.cpu.hpp"

namespace troupe::ops::block_lstm_cpu {

extern constexpr kernel_def block_lstm_cpu{
    .op = "BlockLSTM",
    .run = lstm_forward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<icfo>,
};

} // namespace troupe::ops::block_lstm_cpu
