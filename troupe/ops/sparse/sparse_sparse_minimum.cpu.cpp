#include "troupe/ops/sparse/shared/sparse_extreme.cpu.hpp"

namespace troupe::ops::sparse_sparse_minimum_cpu {

extern constexpr kernel_def sparse_sparse_minimum_cpu{
    .op = "SparseSparseMinimum",
    .run = combine_sparse_kernels<smaller>(types::real_numbers),
};

} // namespace troupe::ops::sparse_sparse_minimum_cpu
