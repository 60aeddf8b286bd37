#include "troupe/ops/state/shared/scatter.hpp"

#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/state/shared/use_locking.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

// The number of coordinates per index.
result<int> index_depth(const tensor& indices, const tensor& value) {
  if (indices.rank() == 0)
    return invalid("indices must have a last axis that lists coordinates, got a scalar");
  auto depth = indices.dims()[indices.rank() - 1];
  if (depth > value.rank())
    return invalid("indices have ", depth, " coordinates, but the variable has a value of shape ",
                   value.dims());
  return static_cast<int>(depth);
}

} // namespace

result<shapes> infer_scatter(const infer_context& at) {
  TROUPE_TRY(infer_rows(at, at.input(0), 1, 2));
  return shapes{at.input(0)};
}

result<shapes> infer_scatter_nd(const infer_context& at) {
  const auto &dims = at.input(0), &indices = at.input(1), &updates = at.input(2);
  if (!indices.has_rank())
    return shapes{dims};
  if (indices.rank() == 0)
    return at.invalid("indices must have a last axis that lists coordinates, got a scalar");
  auto depth = indices[indices.rank() - 1];
  if (!dims.has_rank() || depth == unknown_extent)
    return shapes{dims};
  if (depth > dims.rank())
    return at.invalid("indices have ", depth, " coordinates, but the variable has shape ", dims);
  std::vector<int64_t> extents{indices.extents().begin(), indices.extents().end() - 1};
  extents.insert(extents.end(), dims.extents().begin() + depth, dims.extents().end());
  partial_shape expected_shape{std::move(extents)};
  if (!expected_shape.compatible(updates))
    return at.invalid("updates must have the shape ", expected_shape,
                      ": that of the indices without the last axis, then that of a slice; got ",
                      updates);
  return shapes{dims};
}

result<std::shared_ptr<void>> keep_scatter(const kernel_setup& setup) {
  auto state = std::make_shared<scatter_state>();
  state->use_locking = uses_locks(setup.origin);
  if (setup.origin.op().find_attr("bad_indices_policy")) {
    const auto& policy = setup.origin.attr<std::string>("bad_indices_policy");
    state->ignores_bad_indices = policy == "IGNORE";
    if (!state->ignores_bad_indices && !policy.empty() && policy != "DEFAULT" && policy != "ERROR")
      return invalid("bad_indices_policy must be DEFAULT, ERROR or IGNORE, got '", policy, "'");
  }
  return std::shared_ptr<void>{std::move(state)};
}

result<scatter_plan> plan_scatter(const kernel_context& at, const tensor& value) {
  TROUPE_ASSIGN(auto rows, rows_to_update(at.input(1), value, at.input(2)));
  return scatter_plan{std::move(rows), product(value.dims(), 1, value.rank())};
}

result<int> check_scatter_nd(const kernel_context& at, const tensor& value) {
  const auto &indices = at.input(1), &updates = at.input(2);
  TROUPE_ASSIGN(auto depth, index_depth(indices, value));
  auto outer = indices.dims().extents().first(static_cast<size_t>(indices.rank() - 1));
  auto slice = value.dims().extents().subspan(static_cast<size_t>(depth));
  auto update_extents = updates.dims().extents();
  if (update_extents.size() != outer.size() + slice.size() ||
      !std::ranges::equal(update_extents.first(outer.size()), outer) ||
      !std::ranges::equal(update_extents.subspan(outer.size()), slice))
    return invalid("indices have shape ", indices.dims(), ", the variable has a value of shape ",
                   value.dims(), ": there must be a slice for each index, got updates of shape ",
                   updates.dims());
  return depth;
}

result<scatter_plan> plan_scatter_nd(const kernel_context& at, const tensor& value) {
  TROUPE_ASSIGN(auto depth, check_scatter_nd(at, value));
  const auto& indices = at.input(1);
  auto coordinates = to_integers(indices);
  auto count = product(indices.dims(), 0, indices.rank() - 1);
  scatter_plan plan{integer_list{static_cast<size_t>(count)},
                    product(value.dims(), depth, value.rank())};
  auto ignores = at.state<scatter_state>().ignores_bad_indices;
  for (int64_t i = 0; i < count; ++i) {
    const auto* coordinate = coordinates.data() + i * depth;
    int64_t part = 0;
    for (int axis = 0; axis < depth; ++axis) {
      auto good = coordinate[axis] >= 0 && coordinate[axis] < value.dims()[axis];
      if (!good && !ignores)
        return invalid("index ", i, " has the coordinate ", coordinate[axis], " for axis ", axis,
                       ", but the variable has a value of shape ", value.dims());
      part = good && part >= 0 ? part * value.dims()[axis] + coordinate[axis] : -1;
    }
    plan.parts.data()[i] = part;
  }
  return plan;
}

} // namespace troupe::ops
