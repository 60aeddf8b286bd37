#include "troupe/ops/matmul/shared/matmul_kernels.hpp"

namespace troupe::ops::matmul_cpu {
namespace {

status run(kernel_context& at) { return multiply_matrices(at, at.input(0), at.input(1), multiply); }

} // namespace

extern constexpr kernel_def matmul_cpu{
    .op = "MatMul",
    .run = {{dtype::none, run}},
    .prepare = prepare_matmul,
};

} // namespace troupe::ops::matmul_cpu
