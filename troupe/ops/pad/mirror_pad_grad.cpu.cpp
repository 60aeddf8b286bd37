#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/pad/shared/mirroring.hpp"

namespace troupe::ops::mirror_pad_grad_cpu {
namespace {

// One axis folded: an element gets itself and its images on both sides.
template <class T>
void fold(kernel_context& at, const tensor& from, const tensor& to, int axis, int64_t before,
          int64_t offset) {
  auto wide = from.dims()[axis], extent = to.dims()[axis];
  auto inner = product(to.dims(), axis + 1, to.rank());
  const T* source = from.data<T>();
  T* target = to.data<T>();
  at.parallel_for(to.elements(), 1, [&](int64_t begin, int64_t end) {
    for (auto k = begin; k < end; ++k) {
      auto i = k / inner % extent;
      const T* line = source + k / inner / extent * wide * inner + k % inner;
      auto element = [=](int64_t place) { return compute_type<T>{widen(line[place * inner])}; };
      target[k] = static_cast<T>(with_images(element, i, extent, before, wide, offset));
    }
  });
}

template <class T>
status run(kernel_context& at) {
  auto folded = at.input(0);
  TROUPE_ASSIGN(auto offset, mirror_offset(at.state<std::string>()));
  TROUPE_ASSIGN(auto frames, frames_of(at.input(1), folded.dims()));
  TROUPE_ASSIGN(auto dims, unframed(folded.dims(), frames, offset));
  for (int axis = 0; axis < dims.rank(); ++axis) {
    auto next = folded.dims();
    next.set(axis, dims[axis]);
    if (next == folded.dims())
      continue;
    TROUPE_ASSIGN(auto sums, tensor::make(folded.type(), next, at.memory()));
    fold<T>(at, folded, sums, axis, frames[static_cast<size_t>(axis)].before, offset);
    folded = std::move(sums);
  }
  at.set_output(0, std::move(folded));
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def mirror_pad_grad_cpu{
    .op = "MirrorPadGrad",
    .run = kernels(types::numbers),
    .prepare = cache_attr<std::string, "mode">,
};

} // namespace troupe::ops::mirror_pad_grad_cpu
