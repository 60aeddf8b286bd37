#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/gather_blocks.cuda.hpp"
#include "troupe/ops/pad/shared/mirroring.hpp"

namespace troupe::ops::mirror_pad_gpu {
namespace {

// The axes after the last padded one move in blocks.
struct mirror_pad_place {
  int rank;
  int64_t offset;
  gpu::divisor by[max_rank];
  int64_t before[max_rank], extents[max_rank];

  TROUPE_DEVICE int64_t operator()(int64_t block) const {
    int64_t place = 0, stride = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      auto [quotient, padded_position] = by[axis](block);
      place += stride * mirrored(padded_position, extents[axis], before[axis], offset);
      stride *= extents[axis];
      block = quotient;
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

template <class T>
struct mirror_line {
  const T* from;
  int64_t step;
  TROUPE_DEVICE compute_type<T> operator()(int64_t place) const {
    return gpu::load(from[place * step]);
  }
};

// Folds one axis: sums each element and its mirror images on the two sides.
template <class T>
struct mirror_fold_body {
  gpu::divisor by_inner, by_extent;
  int64_t inner, extent, wide, before, offset;
  const T* from;
  T* to;

  TROUPE_DEVICE void operator()(int64_t k) const {
    auto [line, column] = by_inner(k);
    auto [outer, i] = by_extent(line);
    mirror_line<T> element{from + outer * wide * inner + column, inner};
    to[k] = gpu::store<T>(with_images(element, i, extent, before, wide, offset));
  }
};

template <class T>
status run_mirror_grad(kernel_context& at) {
  auto folded = at.input(0);
  TROUPE_ASSIGN(auto offset, mirror_offset(at.state<std::string>()));
  TROUPE_ASSIGN(auto frames, frames_of(at.input(1), folded.dims()));
  TROUPE_ASSIGN(auto dims, unframed(folded.dims(), frames, offset));
  for (int axis = 0; axis < dims.rank(); ++axis) {
    auto next = folded.dims();
    auto wide = next[axis];
    next.set(axis, dims[axis]);
    if (next == folded.dims())
      continue;
    TROUPE_ASSIGN(auto sums, tensor::make(folded.type(), next, at.memory()));
    auto inner = product(next, axis + 1, next.rank()), all = sums.elements();
    TROUPE_TRY(gpu::for_each(at, all,
                             mirror_fold_body<T>{{inner, all},
                                                 {dims[axis], all},
                                                 inner,
                                                 dims[axis],
                                                 wide,
                                                 frames[static_cast<size_t>(axis)].before,
                                                 offset,
                                                 folded.template data<T>(),
                                                 sums.template data<T>()}));
    folded = std::move(sums);
  }
  at.set_output(0, std::move(folded));
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> mirror_grad_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_mirror_grad<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(mirror_pad){
    .op = "MirrorPad",
    .device = device_kind::gpu,
    .run = {{dtype::none, run_mirror_pad}},
    .prepare = cache_attr<std::string, "mode">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(mirror_pad_grad){
    .op = "MirrorPadGrad",
    .device = device_kind::gpu,
    .run = mirror_grad_kernels(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = cache_attr<std::string, "mode">,
};

} // namespace troupe::ops::mirror_pad_gpu
