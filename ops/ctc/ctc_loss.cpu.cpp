#include "troupe/ops/ctc/shared/ctc_paths.cpu.hpp"

namespace troupe::ops::ctc_loss_cpu {

extern constexpr kernel_def ctc_loss_cpu{
    .op = "CTCLoss",
    .run = {{dtype::f32, run_ctc_loss<float>}, {dtype::f64, run_ctc_loss<double>}},
    .prepare = prepare_ctc_loss<false>,
};

extern constexpr kernel_def ctc_loss_v2_cpu{
    .op = "CTCLossV2",
    .run = {{dtype::none, run_ctc_loss<float>}},
    .prepare = prepare_ctc_loss<true>,
};

} // namespace troupe::ops::ctc_loss_cpu
