#include "troupe/ops/index/shared/strides.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/state/shared/update_functions.hpp"

namespace troupe::ops::strided_slice_assign_any {
namespace {

status put_slice(kernel_context& at) {
  const auto& from = at.input(4);
  return change_variable(at, true, [&](tensor& value) -> status {
    TROUPE_ASSIGN(auto slice, locate_slice(value.dims(), at.input(1), at.input(2), at.input(3),
                                           at.state<slice_masks>()));
    if (!(from.dims() == slice.dims))
      return invalid("the value must have the shape ", slice.dims, " of the slice, got ",
                     from.dims());
    // Not stopped with the step: a half-updated variable would outlive it.
    kernel_context until_done{nullptr, at.device()};
    copy_to_strided(until_done, slice.places, from, {value, slice.first});
    return {};
  });
}

} // namespace

extern constexpr kernel_def strided_slice_assign_any{
    .op = "StridedSliceAssign",
    .run = {{dtype::none, put_slice}},
    .prepare = keep_slice_masks,
    .on_any_device = true,
};

} // namespace troupe::ops::strided_slice_assign_any
