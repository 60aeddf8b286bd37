#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops::pack_any {
namespace {

status run(kernel_context& at) {
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

} // namespace

extern constexpr kernel_def pack_any{
    .op = "Pack",
    .run = {{dtype::none, run}},
    .prepare = cache_attr<int64_t, "axis">,
    .on_any_device = true,
};

} // namespace troupe::ops::pack_any
