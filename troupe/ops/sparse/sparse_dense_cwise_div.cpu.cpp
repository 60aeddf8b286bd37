#include "troupe/ops/sparse/shared/sparse_dense.cpu.hpp"

namespace troupe::ops::sparse_dense_cwise_div_cpu {

extern constexpr kernel_def sparse_dense_cwise_div_cpu{
    .op = "SparseDenseCwiseDiv",
    .run = sparse_dense_kernels<divides>(types::numbers),
};

} // namespace troupe::ops::sparse_dense_cwise_div_cpu
