#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::squeeze_any {
namespace {

status run(kernel_context& at) {
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

extern constexpr kernel_def squeeze_any{
    .op = "Squeeze",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<std::vector<int64_t>, "squeeze_dims">,
    .on_any_device = true,
};

} // namespace troupe::ops::squeeze_any
