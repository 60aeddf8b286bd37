#include "troupe/ops/sparse/shared/sparse_reduce.cpu.hpp"

namespace troupe::ops::sparse_reduce_sum_cpu {

extern constexpr kernel_def sparse_reduce_sum_cpu{
    .op = "SparseReduceSum",
    .run = sparse_reduce_kernels<adding>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::sparse_reduce_sum_cpu
