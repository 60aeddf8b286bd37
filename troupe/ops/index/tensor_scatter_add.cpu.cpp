#include "troupe/ops/index/shared/tensor_scatter.cpu.hpp"

namespace troupe::ops::tensor_scatter_add_cpu {

extern constexpr kernel_def tensor_scatter_add_cpu{
    .op = "TensorScatterAdd",
    .run = tensor_scatter_kernels<scatter_add>(types::numbers),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_add_cpu
