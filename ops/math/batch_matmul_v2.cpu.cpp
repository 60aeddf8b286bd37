#include "troupe/ops/math/batch_matmul.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def batch_matmul_v2_cpu{
    .op = "BatchMatMulV2",
    .run = {{dtype::none, multiply_batches}},
    .prepare = prepare_batch_matmul,
};

} // namespace troupe::ops
