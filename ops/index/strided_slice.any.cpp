#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/index/shared/strides.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::strided_slice_any {
namespace {

status run_slice(kernel_context& at) {
  const auto& x = at.input(0);
  auto begin = to_integers(at.input(1)), size = to_integers(at.input(2));
  auto rank = static_cast<size_t>(x.rank());
  if (begin.size() != rank || size.size() != rank)
    return invalid("begin and size must list ", rank, " axes, got ", begin.size(), " and ",
                   size.size());
  auto strides = strides_of(x.dims());
  auto dims = x.dims();
  int64_t first = 0;
  strided_iterator places;
  for (size_t i = 0; i < rank; ++i) {
    auto axis = static_cast<int>(i);
    auto extent = x.dims()[axis];
    if (begin[i] < 0 || begin[i] > extent || size[i] < -1 || size[i] > extent - begin[i])
      return invalid("begin ", begin[i], " with size ", size[i], " is outside of axis ", axis,
                     " of ", x.dims());
    dims.set(axis, size[i] == -1 ? extent - begin[i] : size[i]);
    first += begin[i] * strides[i];
    places.push_back(dims[axis], {strides[i], 0});
  }
  if (dims == x.dims()) {
    at.set_output(0, x);
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  copy_strided(at, places, {x, first}, *out);
  return {};
}

status run_strided_slice(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto slice, locate_slice(x.dims(), at.input(1), at.input(2), at.input(3),
                                         at.state<slice_masks>()));
  if (slice.dims.elements() == x.elements() && slice.first == 0) { // the elements keep their order
    at.set_output(0, x.reshaped(slice.dims));
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, slice.dims));
  copy_strided(at, slice.places, {x, slice.first}, *out);
  return {};
}

status run_strided_slice_grad(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, shape::make(to_integers(at.input(0))));
  const auto& dy = at.input(4);
  TROUPE_ASSIGN(auto slice,
                locate_slice(dims, at.input(1), at.input(2), at.input(3), at.state<slice_masks>()));
  if (!(dy.dims() == slice.dims))
    return invalid("dy must have the shape ", slice.dims, " of the slice, got ", dy.dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  fill_zeros(at, *out);
  copy_to_strided(at, slice.places, dy, {*out, slice.first});
  return {};
}

} // namespace

extern constexpr kernel_def slice_any{
    .op = "Slice",
    .run = {{dtype::none, run_slice}},
    .on_any_device = true,
};

extern constexpr kernel_def strided_slice_any{
    .op = "StridedSlice",
    .run = {{dtype::none, run_strided_slice}},
    .prepare = keep_slice_masks,
    .on_any_device = true,
};

extern constexpr kernel_def strided_slice_grad_any{
    .op = "StridedSliceGrad",
    .run = {{dtype::none, run_strided_slice_grad}},
    .prepare = keep_slice_masks,
    .on_any_device = true,
};

} // namespace troupe::ops::strided_slice_any
