#include "troupe/ops/reduction/shared/reduce.cpu.hpp"

namespace troupe::ops::euclidean_norm_cpu {

extern constexpr kernel_def euclidean_norm_cpu{
    .op = "EuclideanNorm",
    .run = reduce_kernels<euclidean_length>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::euclidean_norm_cpu
