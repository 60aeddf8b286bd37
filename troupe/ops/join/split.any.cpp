#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::split_any {
namespace {

status run(kernel_context& at) {
  const auto& x = at.input(1);
  if (at.input(0).elements() != 1)
    return invalid("split_dim must be a scalar, got shape ", at.input(0).dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(to_integers(at.input(0))[0], x.rank()));
  auto parts = at.outputs();
  if (x.dims()[axis] % parts != 0)
    return invalid("axis ", axis, " of ", x.dims(), " cannot be cut into ", parts, " equal parts");
  auto dims = x.dims();
  dims.set(axis, x.dims()[axis] / parts);
  auto inner = product(dims, axis, dims.rank()), outer = product(dims, 0, axis);
  strided_iterator places;
  places.push_back(outer, {inner * parts, 0});
  places.push_back(inner, {1, 0});
  for (int i = 0; i < parts; ++i) {
    TROUPE_ASSIGN(auto* out, at.allocate(i, dims));
    copy_strided(at, places, {x, i * inner}, *out);
  }
  return {};
}

} // namespace

extern constexpr kernel_def split_any{
    .op = "Split",
    .run = {{dtype::none, run}},
    .on_any_device = true,
};

} // namespace troupe::ops::split_any
