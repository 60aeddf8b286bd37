#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::pack_any {
namespace {

status run_pack(kernel_context& at) {
  const auto& first = at.input(0).dims();
  for (int i = 1; i < at.inputs(); ++i)
    if (!(at.input(i).dims() == first))
      return invalid("all values must have one shape, got ", first, " and ", at.input(i).dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(at.state<int64_t>(), first.rank() + 1));
  std::vector<int64_t> extents{first.begin(), first.end()};
  extents.insert(extents.begin() + axis, at.inputs());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto inner = product(first, axis, first.rank()), outer = product(first, 0, axis);
  strided_iterator places;
  places.push_back(outer, {inner * at.inputs(), 0});
  places.push_back(inner, {1, 0});
  for (int i = 0; i < at.inputs(); ++i)
    copy_to_strided(at, places, at.input(i), {*out, i * inner});
  return {};
}

status run_unpack(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto axis, resolve_axis(at.state<int64_t>(), x.rank()));
  if (x.dims()[axis] != at.outputs())
    return invalid("axis ", axis, " of ", x.dims(), " has not the extent num=", at.outputs());
  axis_set removed_axes;
  removed_axes.set(static_cast<size_t>(axis));
  auto dims = without(x.dims(), removed_axes, false);
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

extern constexpr kernel_def pack_any{
    .op = "Pack",
    .run = {{dtype::none, run_pack}},
    .prepare = cache_attr<int64_t, "axis">,
    .on_any_device = true,
};

extern constexpr kernel_def unpack_any{
    .op = "Unpack",
    .run = {{dtype::none, run_unpack}},
    .prepare = cache_attr<int64_t, "axis">,
    .on_any_device = true,
};

} // namespace troupe::ops::pack_any
