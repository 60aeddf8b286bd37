#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/pad/shared/mirroring.hpp"

namespace troupe::ops::mirror_pad_gpu {
namespace {

// The axes behind those that have frames move in blocks.
struct mirror_pad_place {
  int rank;
  int64_t offset;
  gpu::divisor by[max_rank];
  int64_t before[max_rank], extents[max_rank];

  TROUPE_DEVICE int64_t operator()(int64_t block) const {
    int64_t place = 0, stride = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      auto [rest, here] = by[axis](block);
      place += stride * mirrored(here, extents[axis], before[axis], offset);
      stride *= extents[axis];
      block = rest;
    }
    return place;
  }
};

status run_mirror_pad(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto plan, plan_mirror_pad(at, at.state<std::string>()));
  const auto& [offset, frames, dims] = plan;
  if (x.rank() == 0) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  mirror_pad_place place{x.rank(), offset, {}, {}, {}};
  while (place.rank > 0 && dims[place.rank - 1] == x.dims()[place.rank - 1])
    --place.rank;
  for (int axis = 0; axis < place.rank; ++axis) {
    place.by[axis] = {dims[axis], dims.elements()};
    place.before[axis] = frames[static_cast<size_t>(axis)].before;
    place.extents[axis] = x.dims()[axis];
  }
  return gpu::take_blocks(at, x, product(dims, place.rank, dims.rank()), *out, place);
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(mirror_pad){
    .op = "MirrorPad",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_mirror_pad}},
    .prepare = cache_attr<std::string, "mode">,
};

} // namespace troupe::ops::mirror_pad_gpu
