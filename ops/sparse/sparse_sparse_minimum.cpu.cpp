#include "troupe/ops/sparse/sparse_extreme.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def sparse_sparse_minimum_cpu{
    .op = "SparseSparseMinimum",
    .run = combine_sparse_kernels<smaller>(types::real_numbers),
};

} // namespace troupe::ops
