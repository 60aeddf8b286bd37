#include "troupe/ops/reduction/shared/reduction.hpp"

#include "troupe/runtime/graph/simplify.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/reduction/shared/reduction_plan.hpp"

namespace troupe::ops {

result<shapes> infer_reduction(const infer_context& at) {
  const auto& dims = at.input(0);
  auto keep_dims = at.attr<bool>("keep_dims");
  if (at.input(1).has_rank() && at.input(1).rank() > 1)
    return at.invalid("reduction_indices must be a scalar or a vector, got shape ", at.input(1));
  auto axes = at.integers(1);
  if (!dims.has_rank() || (!axes && !keep_dims))
    return shapes{partial_shape::unknown()};
  if (!axes)
    return shapes{partial_shape::of_rank(dims.rank())};
  TROUPE_ASSIGN(auto reduced, axes_of(*axes, dims.rank()));
  return shapes{without(dims, reduced, keep_dims)};
}

result<reduction_plan> plan_reduction(const kernel_context& at, bool keep_dims) {
  const auto& x = at.input(0);
  const auto& dims = x.dims();
  TROUPE_ASSIGN(auto axes, axes_of(to_integers(at.input(1)), dims.rank()));
  reduction_plan plan;
  plan.dims = without(dims, axes, keep_dims);
  plan.items = product(without(dims, ~axes, false), 0, static_cast<int>(axes.count()));
  int64_t stride = x.elements();
  for (int axis = 0; axis < dims.rank() && stride > 0; ++axis) {
    stride /= dims[axis];
    auto is_reduced = axes[static_cast<size_t>(axis)];
    (is_reduced ? plan.reduced : plan.kept).push_back(dims[axis], {stride, 0});
    if (dims[axis] > 1)
      plan.last_is_reduced = is_reduced;
  }
  return plan;
}

edge with_reduced_axes(gradient_context& at, edge reduced) {
  auto x = at.input(0);
  if (!reduced || at.attr<bool>("keep_dims"))
    return reduced;
  auto* listed = constant_value(at.input(1));
  if (!listed || !x.dims().has_rank()) {
    // The axes are known only in a run, so that a reduction must provide the remaining shape.
    auto kept_sum = build("Sum", {x, at.input(1)}, {{"keep_dims", true}});
    return reshaped(reduced, build("Shape", {kept_sum}));
  }
  auto axes = axes_of(to_integers(*listed), x.dims().rank());
  if (!axes)
    return {}; // adding the reduction has already failed
  auto dims = without(x.dims(), *axes, true);
  if (dims.fully_known())
    return reshaped(reduced, integers_like(x, {dims.extents().begin(), dims.extents().end()}));
  for (int axis = 0; axis < x.dims().rank(); ++axis)
    if ((*axes)[static_cast<size_t>(axis)])
      reduced = build("ExpandDims", {reduced, integers_like(x, {axis})});
  return reduced;
}

edge spread_over_input(gradient_context& at, edge reduced) {
  return build("BroadcastTo", {with_reduced_axes(at, reduced), shape_of(at.input(0))});
}

edges reduced_extreme_gradient(gradient_context& at) {
  auto x = at.input(0);
  auto y = with_reduced_axes(at, at.output(0)), dy = with_reduced_axes(at, at.output_gradient(0));
  auto chosen = cast_to(build("Equal", {x, y}), x.type());
  auto shares = build("Sum", {chosen, at.input(1)}, {{"keep_dims", true}});
  return {chosen * (dy / shares), {}};
}

edge simplify_reduction(simplify_context& at) {
  auto* axes = at.constant(1);
  return axes && axes->elements() == 0 ? at.input(0) : edge{};
}

} // namespace troupe::ops
