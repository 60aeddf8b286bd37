#include "troupe/ops/index/shared/strides.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::strided_slice_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto slice, locate_slice(x.dims(), at.input(1), at.input(2), at.input(3),
                                         at.state<slice_masks>()));
  if (slice.dims.elements() == x.elements() && slice.first == 0) { // in the same order
    at.set_output(0, x.reshaped(slice.dims));
    return {};
  }
  TROUPE_ASSIGN(auto* out, at.allocate(0, slice.dims));
  copy_strided(at, slice.places, {x, slice.first}, *out);
  return {};
}

} // namespace

extern constexpr kernel_def strided_slice_any{
    .op = "StridedSlice",
    .run = {{dtype::none, run}},
    .prepare = keep_slice_masks,
    .on_any_device = true,
};

} // namespace troupe::ops::strided_slice_any
