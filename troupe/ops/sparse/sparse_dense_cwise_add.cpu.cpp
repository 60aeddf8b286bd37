#include "troupe/ops/sparse/shared/sparse_dense.cpu.hpp"

namespace troupe::ops::sparse_dense_cwise_add_cpu {

extern constexpr kernel_def sparse_dense_cwise_add_cpu{
    .op = "SparseDenseCwiseAdd",
    .run = sparse_dense_kernels<adding>(types::numbers),
};

} // namespace troupe::ops::sparse_dense_cwise_add_cpu
