#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/index/shared/gather.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// A slice lies at one index of the axis and at one outer position, which the axes before it give.
struct gathered_place {
  integers numbers;
  device_errors wrong;
  divisor per_batch, outer;
  int64_t batch_size, extent;

  TROUPE_DEVICE int64_t operator()(int64_t slice) const {
    auto [place, k] = per_batch(slice);
    auto number = numbers[outer(place).quotient * batch_size + k];
    if (number >= 0 && number < extent)
      return place * extent + number;
    wrong.add(number, extent);
    return -1;
  }
};

inline status gather_slices(kernel_context& at, gathering layout) {
  const auto &params = at.input(0), &indices = at.input(1);
  const auto &from = params.dims(), &index_dims = indices.dims();
  TROUPE_ASSIGN(auto dims, gathered(from, index_dims, layout));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  auto length = ops::product(from, layout.axis + 1, from.rank());
  auto batch_size = ops::product(index_dims, layout.batches, index_dims.rank());
  auto slices = out->elements() / length;
  return take_blocks(at, params, length, *out,
                     gathered_place{integers{indices},
                                    {at, "indices"},
                                    {batch_size, slices},
                                    {ops::product(from, layout.batches, layout.axis), slices},
                                    batch_size,
                                    from[layout.axis]});
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::gather_gpu {
namespace {

status run_gather(kernel_context& at) {
  TROUPE_TRY(check_params(at.input(0)));
  return gpu::gather_slices(at, {});
}

status run_gather_v2(kernel_context& at) {
  TROUPE_ASSIGN(auto layout, gathering_of(at, at.state<int64_t>()));
  return gpu::gather_slices(at, layout);
}

status run_resource_gather(kernel_context& at) {
  TROUPE_ASSIGN(auto layout, gathering_behind(at, at.state<int64_t>()));
  return gpu::gather_slices(at, layout);
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(resource_gather){
    .op = "ResourceGather",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_resource_gather}},
    .prepare = cache_attr<int64_t, "batch_dims">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(gather){
    .op = "Gather",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_gather}},
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(gather_v2){
    .op = "GatherV2",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_gather_v2}},
    .prepare = cache_attr<int64_t, "batch_dims">,
};

} // namespace troupe::ops::gather_gpu
