#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/index/one_hot.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"

namespace troupe::ops::one_hot_gpu {
namespace {

template <class T>
struct one_hot_body {
  gpu::integers indices;
  gpu::divisor by_inner, by_depth;
  int64_t inner;
  const T *on, *off;
  T* to;

  TROUPE_DEVICE void operator()(int64_t i) const {
    auto [outer_index, column] = by_inner(i);
    auto [row, place] = by_depth(outer_index);
    to[i] = indices[row * inner + column] == place ? *on : *off;
  }
};

status run_one_hot(kernel_context& at) {
  const auto& indices = at.input(0);
  TROUPE_ASSIGN(auto layout, one_hot_layout_of(at, at.state<int64_t>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, layout.dims));
  auto elements = out->elements();
  auto inner = product(indices.dims(), layout.axis, indices.rank());
  return gpu::with_row_unit(
      static_cast<int64_t>(size_of(out->type())), {}, [&](auto unit, int64_t) {
        using T = typename decltype(unit)::type;
        auto value = [&](int i) { return static_cast<const T*>(at.input(i).raw()); };
        return gpu::for_each(at, elements,
                             one_hot_body<T>{gpu::integers{indices},
                                             {inner, elements},
                                             {layout.depth, elements},
                                             inner,
                                             value(2),
                                             value(3),
                                             static_cast<T*>(out->raw())});
      });
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(one_hot){
    .op = "OneHot",
    .device = device_kind::gpu,
    .run = {{dtype::u8, run_one_hot}, {dtype::i32, run_one_hot}, {dtype::i64, run_one_hot}},
    .key = "TI",
    .prepare = cache_attr<int64_t, "axis">,
};

} // namespace troupe::ops::one_hot_gpu
