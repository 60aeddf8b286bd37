#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/pad/shared/mirroring.hpp"

namespace troupe::ops::mirror_pad_grad_gpu {
namespace {

template <class T>
struct mirror_line {
  const T* from;
  int64_t step;
  TROUPE_DEVICE compute_type<T> operator()(int64_t place) const {
    return gpu::load(from[place * step]);
  }
};

// One axis folded: an element gets itself and its images on both sides.
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

extern constexpr kernel_def TROUPE_GPU_KERNEL(mirror_pad_grad){
    .op = "MirrorPadGrad",
    .device = device_kind::gpu,
    .run = mirror_grad_kernels(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = cache_attr<std::string, "mode">,
};

} // namespace troupe::ops::mirror_pad_grad_gpu
