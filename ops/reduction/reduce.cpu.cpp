#include "troupe/ops/reduction/shared/reduce.cpu.hpp"
#include "troupe/ops/reduction/shared/arithmetic.cpu.hpp"

namespace troupe::ops::reduce_cpu {

extern constexpr kernel_def sum_cpu{
    .op = "Sum",
    .run = reduce_kernels<addition>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def mean_cpu{
    .op = "Mean",
    .run = reduce_kernels<average>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def prod_cpu{
    .op = "Prod",
    .run = reduce_kernels<multiplication>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def euclidean_norm_cpu{
    .op = "EuclideanNorm",
    .run = reduce_kernels<euclidean_length>(types::numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def max_cpu{
    .op = "Max",
    .run = reduce_kernels<largest>(types::real_numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def min_cpu{
    .op = "Min",
    .run = reduce_kernels<smallest>(types::real_numbers),
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def all_cpu{
    .op = "All",
    .run = {{dtype::none, reduce<bool, conjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

extern constexpr kernel_def any_cpu{
    .op = "Any",
    .run = {{dtype::none, reduce<bool, disjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::reduce_cpu
