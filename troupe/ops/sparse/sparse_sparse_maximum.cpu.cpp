#include "troupe/ops/sparse/shared/sparse_extreme.cpu.hpp"

namespace troupe::ops::sparse_sparse_maximum_cpu {

extern constexpr kernel_def sparse_sparse_maximum_cpu{
    .op = "SparseSparseMaximum",
    .run = combine_sparse_kernels<larger>(types::real_numbers),
};

} // namespace troupe::ops::sparse_sparse_maximum_cpu
