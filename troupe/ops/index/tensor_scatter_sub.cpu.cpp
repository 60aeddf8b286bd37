#include "troupe/ops/index/shared/tensor_scatter.cpu.hpp"

namespace troupe::ops::tensor_scatter_sub_cpu {

extern constexpr kernel_def tensor_scatter_sub_cpu{
    .op = "TensorScatterSub",
    .run = tensor_scatter_kernels<scatter_sub>(types::numbers),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_sub_cpu
