#include "troupe/ops/matmul/shared/batch_matmul_kernels.hpp"

namespace troupe::ops::batch_matmul_cpu {
namespace {

status run_batch_matmul(kernel_context& at) { return multiply_pairs(at, multiply); }

status run_batch_matmul_v2(kernel_context& at) { return multiply_batches(at, multiply); }

} // namespace

extern constexpr kernel_def batch_matmul_cpu{
    .op = "BatchMatMul",
    .run = {{dtype::none, run_batch_matmul}},
    .prepare = prepare_batch_matmul,
};

extern constexpr kernel_def batch_matmul_v2_cpu{
    .op = "BatchMatMulV2",
    .run = {{dtype::none, run_batch_matmul_v2}},
    .prepare = prepare_batch_matmul,
};

} // namespace troupe::ops::batch_matmul_cpu
