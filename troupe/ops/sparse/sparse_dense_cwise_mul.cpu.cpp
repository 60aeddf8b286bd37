#include "troupe/ops/sparse/shared/sparse_dense.cpu.hpp"

namespace troupe::ops::sparse_dense_cwise_mul_cpu {

extern constexpr kernel_def sparse_dense_cwise_mul_cpu{
    .op = "SparseDenseCwiseMul",
    .run = sparse_dense_kernels<multiplying>(types::numbers),
};

} // namespace troupe::ops::sparse_dense_cwise_mul_cpu
