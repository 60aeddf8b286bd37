#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/pad/shared/patch_plan.hpp"

namespace troupe::ops::extract_image_patches_gpu {
namespace {

// Finds the pixel at a position of a patch.
struct patch_place {
  gpu::divisor by_size[2], by_count[2]; // rows and columns
  int64_t before[2], stride[2], rate[2], extent[2];

  TROUPE_DEVICE int64_t operator()(int64_t i) const {
    int64_t inside[2], pixel[2];
    for (int axis : {1, 0}) {
      auto parts = by_size[axis](i);
      inside[axis] = parts.rest, i = parts.quotient;
    }
    for (int axis : {1, 0}) {
      auto parts = by_count[axis](i);
      pixel[axis] = parts.rest * stride[axis] - before[axis] + inside[axis] * rate[axis];
      i = parts.quotient;
    }
    auto is_inside = pixel[0] >= 0 && pixel[0] < extent[0] && pixel[1] >= 0 && pixel[1] < extent[1];
    return is_inside ? (i * extent[0] + pixel[0]) * extent[1] + pixel[1] : -1;
  }
};

status run_patches(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& layout = at.state<patch_layout>();
  TROUPE_ASSIGN(auto plan, plan_patches(x, layout));
  TROUPE_ASSIGN(auto* out, at.allocate(0, plan.dims));
  patch_place place{};
  for (size_t axis = 0; axis < 2; ++axis) {
    const auto& axis_layout = layout.axes[axis];
    const auto& along = axis == 0 ? plan.down : plan.across;
    place.by_size[axis] = {axis_layout.size, out->elements()};
    place.by_count[axis] = {along.count, out->elements()};
    place.before[axis] = along.before;
    place.stride[axis] = axis_layout.stride;
    place.rate[axis] = axis_layout.rate;
    place.extent[axis] = x.dims()[static_cast<int>(axis) + 1];
  }
  return gpu::take_blocks(at, x, x.dims()[3], *out, place);
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(extract_image_patches){
    .op = "ExtractImagePatches",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_patches}},
    .prepare = keep_patches,
};

} // namespace troupe::ops::extract_image_patches_gpu
