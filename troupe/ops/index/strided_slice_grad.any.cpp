#include "troupe/ops/index/shared/strides.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::strided_slice_grad_any {
namespace {

status run(kernel_context& at) {
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

extern constexpr kernel_def strided_slice_grad_any{
    .op = "StridedSliceGrad",
    .run = {{dtype::none, run}},
    .prepare = keep_slice_masks,
    .on_any_device = true,
};

} // namespace troupe::ops::strided_slice_grad_any
