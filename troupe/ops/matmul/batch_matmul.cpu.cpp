#include "troupe/ops/matmul/shared/batch_matmul_kernels.hpp"

namespace troupe::ops::batch_matmul_cpu {
namespace {

status run(kernel_context& at) { return multiply_pairs(at, multiply); }

} // namespace

extern constexpr kernel_def batch_matmul_cpu{
    .op = "BatchMatMul",
    .run = {{dtype::none, run}},
    .prepare = prepare_batch_matmul,
};

} // namespace troupe::ops::batch_matmul_cpu
