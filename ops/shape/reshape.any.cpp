#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>

namespace troupe::ops::reshape_any {
namespace {

status run_reshape(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto dims, fit_elements(to_integers(at.input(1)), x.elements()));
  at.set_output(0, x.reshaped(dims));
  return {};
}

status run_expand_dims(kernel_context& at) {
  const auto& x = at.input(0);
  auto axis = to_integers(at.input(1));
  if (axis.size() != 1)
    return invalid("dim must be one number, got shape ", at.input(1).dims());
  TROUPE_ASSIGN(auto new_axis, resolve_axis(axis[0], x.rank() + 1));
  integer_list extents{static_cast<size_t>(x.rank()) + 1};
  auto* one_extent = std::copy_n(x.dims().begin(), new_axis, extents.begin());
  *one_extent = 1;
  std::copy(x.dims().begin() + new_axis, x.dims().end(), one_extent + 1);
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  at.set_output(0, x.reshaped(dims));
  return {};
}

status run_squeeze(kernel_context& at) {
  const auto& x = at.input(0);
  const auto& listed = at.state<std::vector<int64_t>>();
  TROUPE_ASSIGN(auto axes, axes_of(listed, x.rank()));
  for (int axis = 0; axis < x.rank(); ++axis)
    if (listed.empty())
      axes.set(static_cast<size_t>(axis), x.dims()[axis] == 1);
    else if (axes[static_cast<size_t>(axis)] && x.dims()[axis] != 1)
      return invalid("cannot remove axis ", axis, " of ", x.dims(), ": its extent is not 1");
  at.set_output(0, x.reshaped(without(x.dims(), axes, false)));
  return {};
}

} // namespace

extern constexpr kernel_def reshape_any{
    .op = "Reshape",
    .run = {{dtype::none, run_reshape}},
    .on_any_device = true,
};

extern constexpr kernel_def expand_dims_any{
    .op = "ExpandDims",
    .run = {{dtype::none, run_expand_dims}},
    .on_any_device = true,
};

extern constexpr kernel_def squeeze_any{
    .op = "Squeeze",
    .run = {{dtype::none, run_squeeze}},
    .prepare = cache_attr<std::vector<int64_t>, "squeeze_dims">,
    .on_any_device = true,
};

} // namespace troupe::ops::reshape_any
