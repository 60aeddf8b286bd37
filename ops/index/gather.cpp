// Gather and GatherV2: slices at indices, along the first axis or any.
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/index/shared/positions.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::gather_op {
namespace {

result<shapes> infer_gather(const infer_context& at) {
  const auto &params = at.input(0), &indices = at.input(1);
  if (params.has_rank() && params.rank() == 0)
    return at.invalid("params must have rows, got a scalar");
  if (!params.has_rank() || !indices.has_rank())
    return shapes{partial_shape::unknown()};
  std::vector<int64_t> extents{indices.extents().begin(), indices.extents().end()};
  extents.insert(extents.end(), params.extents().begin() + 1, params.extents().end());
  TROUPE_ASSIGN(auto dims, partial_shape::make(extents));
  return shapes{dims};
}

// The ranks of two partial shapes are known, and both have the axes that the op needs.
result<shapes> infer_slices(const partial_shape& params, const partial_shape& indices, int axis,
                            int batches) {
  std::vector<int64_t> extents;
  for (int i = 0; i < batches; ++i) {
    TROUPE_ASSIGN(auto extent, merge(partial_shape{params[i]}, {indices[i]}));
    extents.push_back(extent[0]);
  }
  auto add = [&](const partial_shape& dims, int from, int to) {
    extents.insert(extents.end(), dims.extents().begin() + from, dims.extents().begin() + to);
  };
  add(params, batches, axis);
  add(indices, batches, indices.rank());
  add(params, axis + 1, params.rank());
  TROUPE_ASSIGN(auto dims, partial_shape::make(extents));
  return shapes{dims};
}

// A row that was read several times gets the sum of its gradients.
edges gather_gradient(gradient_context& at) {
  auto params = at.input(0), indices = at.input(1);
  edge count;
  if (params.dims().has_rank() && params.dims()[0] != unknown_extent) {
    count = constant_like(params, tensor::scalar(params.dims()[0]));
  } else {
    auto slice_size = integers_like(params, {1});
    auto rows = build("Slice", {shape_of(params), integers_like(params, {0}), slice_size});
    count = reshaped(rows, integers_like(params, {}));
  }
  return {build("UnsortedSegmentSum", {at.output_gradient(0), indices, count}), {}};
}

result<shapes> infer_gather_v2(const infer_context& at) {
  TROUPE_TRY(at.of_rank(2, 0));
  const auto &params = at.input(0), &indices = at.input(1);
  auto along = at.integers(2);
  if (!params.has_rank() || !indices.has_rank())
    return shapes{partial_shape::unknown()};
  auto batch_dims = at.attr<int64_t>("batch_dims");
  batch_dims += batch_dims < 0 ? indices.rank() : 0;
  if (batch_dims < 0 || batch_dims > std::min(indices.rank(), params.rank()))
    return at.invalid("batch_dims must count axes of indices ", indices, " and params ", params,
                      ", got ", at.attr<int64_t>("batch_dims"));
  auto batches = static_cast<int>(batch_dims);
  if (!along) {
    auto rank = params.rank() - 1 + indices.rank() - batches;
    if (params.rank() == 0 || rank > max_rank)
      return at.invalid("params ", params, " and indices ", indices, " give no tensor of at most ",
                        max_rank, " axes");
    return shapes{partial_shape::of_rank(rank)};
  }
  TROUPE_ASSIGN(auto axis, resolve_axis(along->front(), params.rank()));
  if (axis < batches)
    return at.invalid("axis ", axis, " must not be one of the ", batches, " axes of batch_dims");
  return infer_slices(params, indices, axis, batches);
}

// A slice that was read several times gets the sum of its gradients.
edges gather_v2_gradient(gradient_context& at) {
  auto params = at.input(0), indices = at.input(1), dy = at.output_gradient(0);
  auto* axis = constant_value(at.input(2));
  if (axis && to_integers(*axis)[0] == 0 && at.attr<int64_t>("batch_dims") == 0) {
    auto extents = shape_of(params);
    auto first = integers_like(params, {0}), one = integers_like(params, {1});
    auto rows = reshaped(build("Slice", {extents, first, one}), integers_like(params, {}));
    return {build("UnsortedSegmentSum", {dy, indices, rows}), {}, {}};
  }
  auto from = build("GatherV2", {positions_of(params), indices, at.input(2)},
                    {{"batch_dims", at.attr<int64_t>("batch_dims")}});
  return {summed_at(from, dy, params), {}, {}};
}

// Slices of the axis after the batch axes that variable and indices share.
result<shapes> infer_resource_gather(const infer_context& at) {
  const auto &params = at.input(0), &indices = at.input(1);
  auto batch_dims = at.attr<int64_t>("batch_dims");
  if (batch_dims < 0)
    return at.invalid("batch_dims must not be negative, got ", batch_dims);
  if ((params.has_rank() && batch_dims >= params.rank()) ||
      (indices.has_rank() && batch_dims > indices.rank()))
    return at.invalid("batch_dims must count axes of indices ", indices, " and of the variable ",
                      params, ", and leave one of the latter; got ", batch_dims);
  if (!params.has_rank() || !indices.has_rank())
    return shapes{partial_shape::unknown()};
  auto batches = static_cast<int>(batch_dims);
  return infer_slices(params, indices, batches, batches);
}

edges resource_gather_gradient(gradient_context& at) {
  auto batch_dims = at.attr<int64_t>("batch_dims");
  if (batch_dims == 0)
    return gather_gradient(at);
  auto params = at.input(0);
  auto axis = constant_like(params, tensor::scalar(batch_dims));
  auto from =
      build("GatherV2", {positions_of(params), at.input(1), axis}, {{"batch_dims", batch_dims}});
  return {summed_at(from, at.output_gradient(0), params), {}};
}

} // namespace

extern constexpr op_def resource_gather{
    .name = "ResourceGather",
    .doc = "Takes the rows that indices names of a variable that is given by its handle.\n\n"
           "A row is a slice of the first axis, or of the axis behind the batch_dims ones that "
           "variable and indices have in common; an index outside of it fails. The variable is "
           "read where the node stands among its updates, and runs where the variable is: only "
           "rows travel.",
    .inputs = {behind_handle("resource", "dtype"), {"indices", "Tindices"}},
    .outputs = {{"output", "dtype"}},
    .attrs = {{"batch_dims", 0},
              {"validate_indices", true},
              {"dtype", any_type},
              {"Tindices", index_types}},
    .infer = infer_resource_gather,
    .gradient = resource_gather_gradient,
    .example = R"(
v = VarHandleOp dtype=f32 shape=[3, 2]
init = AssignVariableOp(v, f32[[1, 2], [3, 4], [5, 6]])
y = ResourceGather(v, i32[2, 0, 2])
target init
run
fetch y = f32[[5, 6], [1, 2], [5, 6]]
)",
};

extern constexpr op_def gather{
    .name = "Gather",
    .doc = "Takes the rows of params that indices names.\n\nA row is a slice of the first axis; an "
           "index outside of it fails.",
    .inputs = {{"params", "Tparams"}, {"indices", "Tindices"}},
    .outputs = {{"output", "Tparams"}},
    .attrs = {{"validate_indices", true}, {"Tparams", any_type}, {"Tindices", index_types}},
    .infer = infer_gather,
    .gradient = gather_gradient,
    .example = R"(
y = Gather(f32[[1, 2], [3, 4], [5, 6]], i32[2, 0, 2])
fetch y = f32[[5, 6], [1, 2], [5, 6]]
)",
};

extern constexpr op_def gather_v2{
    .name = "GatherV2",
    .doc = "Takes the slices of params along an axis that indices names.\n\nThe axis is replaced "
           "by those of indices. The first batch_dims axes of both are the same: each batch has "
           "indices of its own. A negative axis counts from the end; an index outside of the axis "
           "fails.",
    .inputs = {{"params", "Tparams"}, {"indices", "Tindices"}, on_host("axis", "Taxis")},
    .outputs = {{"output", "Tparams"}},
    .attrs = {{"batch_dims", 0},
              {"Tparams", any_type},
              {"Tindices", index_types},
              {"Taxis", index_types}},
    .infer = infer_gather_v2,
    .gradient = gather_v2_gradient,
    .example = R"(
x = f32[[1, 2, 3], [4, 5, 6]]
y = GatherV2(x, i32[2, 0, 2], i32(1))
z = GatherV2(x, i32[[2], [0]], i32(1)) batch_dims=1
fetch y = f32[[3, 1, 3], [6, 4, 6]]
fetch z = f32[[3], [4]]
)",
};

} // namespace troupe::ops::gather_op
