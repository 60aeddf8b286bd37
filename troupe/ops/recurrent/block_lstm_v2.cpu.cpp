#include "troupe/ops/recurrent/shared/lstm.cpu.hpp"

namespace troupe::ops::block_lstm_v2_cpu {

extern constexpr kernel_def block_lstm_v2_cpu{
    .op = "BlockLSTMV2",
    .run = lstm_forward_kernels<lstm_span::sequence>,
    .prepare = prepare_lstm<ifco>,
};

} // namespace troupe::ops::block_lstm_v2_cpu
