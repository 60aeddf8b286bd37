#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::unpack_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto axis, resolve_axis(at.state<int64_t>(), x.rank()));
  if (x.dims()[axis] != at.outputs())
    return invalid("axis ", axis, " of ", x.dims(), " has not the extent num=", at.outputs());
  axis_set gone;
  gone.set(static_cast<size_t>(axis));
  auto dims = without(x.dims(), gone, false);
  auto inner = product(dims, axis, dims.rank()), outer = product(dims, 0, axis);
  strided_iterator places;
  places.push_back(outer, {inner * at.outputs(), 0});
  places.push_back(inner, {1, 0});
  for (int i = 0; i < at.outputs(); ++i) {
    TROUPE_ASSIGN(auto* out, at.allocate(i, dims));
    copy_strided(at, places, {x, i * inner}, *out);
  }
  return {};
}

} // namespace

extern constexpr kernel_def unpack_any{
    .op = "Unpack",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "axis">,
    .on_any_device = true,
};

} // namespace troupe::ops::unpack_any
