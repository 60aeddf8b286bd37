// Select: elements of one of two tensors.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/precision.hpp"

namespace troupe::ops::select_op {
namespace {

result<shapes> infer(const infer_context& at) {
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

edges gradient(gradient_context& at) {
  auto condition = at.input(0), dy = at.output_gradient(0), zeros = zeros_of(dy);
  return {{}, build("Select", {condition, dy, zeros}), build("Select", {condition, zeros, dy})};
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
    .effects = effect::forwardable | autocast_infer,
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Select(bool[true, false, true], f32[1, 2, 3], f32[-1, -2, -3])
fetch y = f32[1, -2, 3]
)",
};

} // namespace troupe::ops::select_op
