#include "troupe/ops/index/shared/nd_indices.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"

namespace troupe::ops::gather_nd_gpu {
namespace {

struct gather_nd_place {
  gpu::block_numbers numbers;
  TROUPE_DEVICE int64_t operator()(int64_t i) const { return numbers[i]; }
};

status run_gather_nd(kernel_context& at) {
  const auto &params = at.input(0), &indices = at.input(1);
  const auto& policy = at.state<std::string>();
  TROUPE_ASSIGN(auto blocks, block_shape_of(indices, params.dims(), policy));
  TROUPE_ASSIGN(auto* out, at.allocate(0, blocks.dims));
  return gpu::take_blocks(
      at, params, blocks.length, *out,
      gather_nd_place{{at, indices, blocks.depth, params.dims(), policy == "IGNORE"}});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(gather_nd){
    .op = "GatherNd",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_gather_nd}},
    .prepare = cache_attr<std::string, "bad_indices_policy">,
};

} // namespace troupe::ops::gather_nd_gpu
