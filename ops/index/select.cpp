// Selection of elements by truth values.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"

namespace troupe::ops::select_op {
namespace {

result<shapes> infer_select(const infer_context& at) {
  TROUPE_ASSIGN(auto dims, merge(at.input(1), at.input(2)));
  const auto& condition = at.input(0);
  if (!condition.has_rank() || condition.rank() == 0 || !dims.has_rank())
    return shapes{dims};
  if (condition.rank() == 1 && dims.rank() > 1) {
    if (partial_shape rows{dims[0]}; !rows.compatible(condition))
      return at.invalid("condition ", condition, " must have one element for each row of ", dims);
    return shapes{dims};
  }
  if (!condition.compatible(dims))
    return at.invalid("condition must be a scalar, a vector of rows, or have the shape ", dims,
                      ", got ", condition);
  TROUPE_ASSIGN(auto joint, merge(condition, dims));
  return shapes{joint};
}

edges select_gradient(gradient_context& at) {
  auto condition = at.input(0), dy = at.output_gradient(0), zeros = zeros_of(dy);
  return {{}, build("Select", {condition, dy, zeros}), build("Select", {condition, zeros, dy})};
}

result<shapes> infer_select_v2(const infer_context& at) {
  TROUPE_ASSIGN(auto values, broadcast(at.input(1), at.input(2)));
  TROUPE_ASSIGN(auto joint, broadcast(at.input(0), values));
  return shapes{joint};
}

edges select_v2_gradient(gradient_context& at) {
  auto condition = at.input(0), dy = at.output_gradient(0), zero = scalar_like(dy, 0);
  return {{},
          unbroadcast(build("SelectV2", {condition, dy, zero}), at.input(1), dy),
          unbroadcast(build("SelectV2", {condition, zero, dy}), at.input(2), dy)};
}

result<shapes> infer_where(const infer_context& at) {
  const auto& dims = at.input(0);
  return shapes{{unknown_extent, dims.has_rank() ? dims.rank() : unknown_extent}};
}

} // namespace

extern constexpr op_def select{
    .name = "Select",
    .doc = "Takes each element from t where condition is true, from e where it is false.\n\nt and "
           "e have one shape; condition has the same, or is a scalar, or a vector that selects "
           "whole rows.",
    .inputs = {{"condition", "bool"}, {"t", "T"}, {"e", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .effects = effect::forwardable | effect::autocast_infer,
    .infer = infer_select,
    .gradient = select_gradient,
    .example = R"(
y = Select(bool[true, false, true], f32[1, 2, 3], f32[-1, -2, -3])
fetch y = f32[1, -2, 3]
)",
};

extern constexpr op_def select_v2{
    .name = "SelectV2",
    .doc = "Takes each element from t where condition is true, from e where it is false.\n\nAll "
           "three are broadcast to one shape by NumPy's rules.",
    .inputs = {{"condition", "bool"}, {"t", "T"}, {"e", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}},
    .effects = effect::autocast_infer,
    .infer = infer_select_v2,
    .gradient = select_v2_gradient,
    .example = R"(
y = SelectV2(bool[[true], [false]], f32[1, 2, 3], f32(0))
fetch y = f32[[1, 2, 3], [0, 0, 0]]
)",
};

extern constexpr op_def where{
    .name = "Where",
    .doc = "Lists the coordinates of all elements that are true, or not zero, in row-major order."
           "\n\nThe output has a row for each.",
    .inputs = {{"input", "T"}},
    .outputs = {{"index", "i64"}},
    .attrs = {{"T", numbers | one_of(dtype::boolean), dtype::boolean}},
    .effects = effect::data_dependent_shape,
    .infer = infer_where,
    .no_gradient = "coordinates are whole numbers",
    .example = R"(
y = Where(bool[[true, false], [true, true]])
fetch y = i64[[0, 0], [1, 0], [1, 1]]
)",
};

} // namespace troupe::ops::select_op
