#include "troupe/ops/matmul/shared/batch_matmul_kernels.hpp"

namespace troupe::ops::batch_matmul_v2_cpu {
namespace {

status run(kernel_context& at) { return multiply_batches(at, multiply); }

} // namespace

extern constexpr kernel_def batch_matmul_v2_cpu{
    .op = "BatchMatMulV2",
    .run = {{dtype::none, run}},
    .prepare = prepare_batch_matmul,
};

} // namespace troupe::ops::batch_matmul_v2_cpu
