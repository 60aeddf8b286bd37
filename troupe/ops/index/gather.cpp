// Gather: rows of a tensor by number.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::gather_op {
namespace {

result<shapes> infer(const infer_context& at) {
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

// Rows that were taken several times get the sum.
edges gradient(gradient_context& at) {
  auto params = at.input(0), indices = at.input(1);
  edge count;
  if (params.dims().has_rank() && params.dims()[0] != unknown_extent) {
    count = constant_like(params, tensor::scalar(params.dims()[0]));
  } else {
    auto one = integers_like(params, {1});
    auto rows = build("Slice", {shape_of(params), integers_like(params, {0}), one});
    count = reshaped(rows, integers_like(params, {}));
  }
  return {build("UnsortedSegmentSum", {at.output_gradient(0), indices, count}), {}};
}

} // namespace

extern constexpr op_def gather{
    .name = "Gather",
    .doc = "Takes the rows of params that indices names.\n\nA row is a slice of the first axis; an "
           "index outside of it fails.",
    .inputs = {{"params", "Tparams"}, {"indices", "Tindices"}},
    .outputs = {{"output", "Tparams"}},
    .attrs = {{"validate_indices", true}, {"Tparams", any_type}, {"Tindices", index_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Gather(f32[[1, 2], [3, 4], [5, 6]], i32[2, 0, 2])
fetch y = f32[[5, 6], [1, 2], [5, 6]]
)",
};

} // namespace troupe::ops::gather_op
