#include "troupe/ops/sparse/shared/sparse_reduce.cpu.hpp"

namespace troupe::ops::sparse_reduce_max_cpu {

extern constexpr kernel_def sparse_reduce_max_cpu{
    .op = "SparseReduceMax",
    .run = sparse_reduce_kernels<larger>(types::real_numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::sparse_reduce_max_cpu
