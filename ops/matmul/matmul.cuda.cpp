#include "troupe/ops/matmul/shared/matmul_kernels.hpp"
#include "troupe/ops/matmul/shared/matrix_product.cuda.hpp"

namespace troupe::ops::matmul_gpu {
namespace {

status run(kernel_context& at) {
  return multiply_matrices(at, at.input(0), at.input(1), multiply_on_gpu);
}

} // namespace

extern constexpr kernel_def matmul_cuda{
    .op = "MatMul",
    .device = device_kind::gpu,
    .run = gpu_product_kernels(run),
    .prepare = prepare_matmul,
};

} // namespace troupe::ops::matmul_gpu
