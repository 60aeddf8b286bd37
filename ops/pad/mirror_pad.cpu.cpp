#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/pad/shared/mirroring.hpp"

namespace troupe::ops::mirror_pad_cpu {
namespace {

// For each axis, the input positions of the output's elements.
using sources = std::array<std::vector<int64_t>, max_rank>;

status run_mirror_pad(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto plan, plan_mirror_pad(at, at.state<std::string>()));
  const auto& [offset, frames, dims] = plan;
  if (x.rank() == 0) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  auto strides = strides_of(x.dims());
  sources from;
  for (size_t axis = 0; axis < frames.size(); ++axis) {
    from[axis].resize(static_cast<size_t>(dims[static_cast<int>(axis)]));
    for (size_t i = 0; i < from[axis].size(); ++i)
      from[axis][i] =
          strides[axis] * mirrored(static_cast<int64_t>(i), x.dims()[static_cast<int>(axis)],
                                   frames[axis].before, offset);
  }
  auto last = frames.size() - 1;
  auto columns = dims[static_cast<int>(last)];
  with_word(x.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    const auto* source = static_cast<const T*>(x.raw());
    auto* target = static_cast<T*>(out->raw());
    at.parallel_for(out->elements() / columns, 0.7 * static_cast<double>(columns) + 5,
                    [&](int64_t begin, int64_t end) {
                      for (auto row = begin; row < end; ++row) {
                        int64_t first = 0;
                        auto remaining = row;
                        for (auto axis = last; axis-- > 0;) {
                          auto extent = static_cast<int64_t>(from[axis].size());
                          first += from[axis][static_cast<size_t>(remaining % extent)];
                          remaining /= extent;
                        }
                        auto* to = target + row * columns;
                        for (auto place : from[last])
                          *to++ = source[first + place];
                      }
                    });
  });
  return {};
}

// Folds one axis: sums each element and its mirror images on the two sides.
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
status run_mirror_pad_grad(kernel_context& at) {
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
  return {{dtype_of<Ts>, run_mirror_pad_grad<Ts>}...};
}

} // namespace

extern constexpr kernel_def mirror_pad_cpu{
    .op = "MirrorPad",
    .run = {{dtype::none, run_mirror_pad}},
    .prepare = cache_attr<std::string, "mode">,
};

extern constexpr kernel_def mirror_pad_grad_cpu{
    .op = "MirrorPadGrad",
    .run = kernels(types::numbers),
    .prepare = cache_attr<std::string, "mode">,
};

} // namespace troupe::ops::mirror_pad_cpu
