#include "troupe/ops/index/shared/tensor_scatter.cpu.hpp"

namespace troupe::ops::tensor_scatter_update_cpu {
namespace {

status run(kernel_context& at) {
  const auto& updates = at.input(2);
  TROUPE_ASSIGN(auto blocks, blocks_to_update(at, at.input(1), updates, at.input(0).dims()));
  TROUPE_ASSIGN(auto* out, output_from_input(at, 0));
  put_blocks(at, updates, blocks.places, blocks.length, *out);
  return {};
}

} // namespace

extern constexpr kernel_def tensor_scatter_update_cpu{
    .op = "TensorScatterUpdate",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::tensor_scatter_update_cpu
