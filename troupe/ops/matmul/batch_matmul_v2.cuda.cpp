#include "troupe/ops/matmul/shared/batch_matmul_kernels.hpp"
#include "troupe/ops/matmul/shared/matrix_product.cuda.hpp"

namespace troupe::ops::batch_matmul_v2_gpu {
namespace {

status run(kernel_context& at) { return multiply_batches(at, multiply_on_gpu); }

} // namespace

extern constexpr kernel_def batch_matmul_v2_cuda{
    .op = "BatchMatMulV2",
    .device = device_kind::gpu,
    .run = gpu_product_kernels(run),
    .prepare = prepare_batch_matmul,
};

} // namespace troupe::ops::batch_matmul_v2_gpu
