#include "troupe/ops/join/shared/split.hpp"
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::split_any {
namespace {

status run_split(kernel_context& at) {
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

status run_split_v(kernel_context& at) {
  const auto& x = at.input(0);
  auto sizes = to_integers(at.input(1));
  if (at.input(1).rank() != 1 || sizes.size() != static_cast<size_t>(at.outputs()))
    return invalid("size_splits must list ", at.outputs(), " extents, got shape ",
                   at.input(1).dims());
  if (at.input(2).elements() != 1)
    return invalid("split_dim must be a scalar, got shape ", at.input(2).dims());
  TROUPE_ASSIGN(auto axis, resolve_axis(to_integers(at.input(2))[0], x.rank()));
  auto dims = x.dims();
  TROUPE_TRY(resolve_sizes({sizes.data(), sizes.size()}, dims[axis]));
  auto inner = product(dims, axis + 1, dims.rank()), outer = product(dims, 0, axis);
  int64_t first = 0;
  for (int i = 0; i < at.outputs(); ++i) {
    auto length = sizes[static_cast<size_t>(i)] * inner;
    dims.set(axis, sizes[static_cast<size_t>(i)]);
    strided_iterator places;
    places.push_back(outer, {x.dims()[axis] * inner, 0});
    places.push_back(length, {1, 0});
    TROUPE_ASSIGN(auto* out, at.allocate(i, dims));
    copy_strided(at, places, {x, first}, *out);
    first += length;
  }
  return {};
}

} // namespace

extern constexpr kernel_def split_any{
    .op = "Split",
    .run = {{dtype::none, run_split}},
    .on_any_device = true,
};

extern constexpr kernel_def split_v_any{
    .op = "SplitV",
    .run = {{dtype::none, run_split_v}},
    .on_any_device = true,
};

} // namespace troupe::ops::split_any
