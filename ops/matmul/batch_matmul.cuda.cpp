#include "troupe/ops/matmul/shared/batch_matmul_kernels.hpp"
#include "troupe/ops/matmul/shared/matrix_product.cuda.hpp"

namespace troupe::ops::batch_matmul_gpu {
namespace {

status run_batch_matmul(kernel_context& at) { return multiply_pairs(at, multiply_on_gpu); }

status run_batch_matmul_v2(kernel_context& at) { return multiply_batches(at, multiply_on_gpu); }

} // namespace

extern constexpr kernel_def batch_matmul_cuda{
    .op = "BatchMatMul",
    .device = device_kind::gpu,
    .run = gpu_product_kernels(run_batch_matmul),
    .prepare = prepare_batch_matmul,
};

extern constexpr kernel_def batch_matmul_v2_cuda{
    .op = "BatchMatMulV2",
    .device = device_kind::gpu,
    .run = gpu_product_kernels(run_batch_matmul_v2),
    .prepare = prepare_batch_matmul,
};

} // namespace troupe::ops::batch_matmul_gpu
