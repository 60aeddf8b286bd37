#include "troupe/ops/index/shared/tensor_scatter.cpu.hpp"

namespace troupe::ops::tensor_scatter_min_cpu {

extern constexpr kernel_def tensor_scatter_min_cpu{
    .op = "TensorScatterMin",
    .run = tensor_scatter_kernels<scatter_min>(types::real_numbers),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_min_cpu
