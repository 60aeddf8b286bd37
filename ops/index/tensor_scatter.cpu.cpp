#include "troupe/ops/index/shared/tensor_scatter.cpu.hpp"

namespace troupe::ops::tensor_scatter_cpu {
namespace {

status run(kernel_context& at) {
  const auto& updates = at.input(2);
  TROUPE_ASSIGN(auto blocks, blocks_to_update(at, at.input(1), updates, at.input(0).dims()));
  TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
  put_blocks(at, updates, blocks.places, blocks.length, *out);
  return {};
}

} // namespace

extern constexpr kernel_def tensor_scatter_add_cpu{
    .op = "TensorScatterAdd",
    .run = tensor_scatter_kernels<scatter_add>(types::numbers),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def tensor_scatter_sub_cpu{
    .op = "TensorScatterSub",
    .run = tensor_scatter_kernels<scatter_sub>(types::numbers),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def tensor_scatter_max_cpu{
    .op = "TensorScatterMax",
    .run = tensor_scatter_kernels<scatter_max>(types::real_numbers),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def tensor_scatter_min_cpu{
    .op = "TensorScatterMin",
    .run = tensor_scatter_kernels<scatter_min>(types::real_numbers),
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

extern constexpr kernel_def tensor_scatter_update_cpu{
    .op = "TensorScatterUpdate",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_cpu
