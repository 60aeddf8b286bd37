// The greater or the lesser of elements.
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::extreme_op {
namespace {

edges maximum_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto from_x = build("GreaterEqual", {x, y}), zeros = zeros_of(dz);
  return {unbroadcast(build("Select", {from_x, dz, zeros}), x, y),
          unbroadcast(build("Select", {from_x, zeros, dz}), y, x)};
}

edges minimum_gradient(gradient_context& at) {
  auto x = at.input(0), y = at.input(1), dz = at.output_gradient(0);
  auto from_x = build("LessEqual", {x, y}), zeros = zeros_of(dz);
  return {unbroadcast(build("Select", {from_x, dz, zeros}), x, y),
          unbroadcast(build("Select", {from_x, zeros, dz}), y, x)};
}

result<shapes> infer_clip_by_value(const infer_context& at) {
  const auto& t = at.input(0);
  auto joint = t;
  for (int i = 1; i < 3; ++i) {
    const auto& bound = at.input(i);
    if (!bound.has_rank() || bound.rank() == 0)
      continue;
    auto merged = merge(joint, bound);
    if (!merged)
      return at.invalid("bounds must be scalars or have the shape of t, got ", bound, " and ", t);
    if (t.has_rank())
      joint = *merged;
  }
  return shapes{joint};
}

// The gradient goes to the one of the three operands that was selected.
edges clip_by_value_gradient(gradient_context& at) {
  auto t = at.input(0), low = at.input(1), high = at.input(2), dy = at.output_gradient(0);
  auto below = cast_to(build("Less", {t, low}), t.type());
  auto above = cast_to(build("Greater", {t, high}), t.type());
  auto within = scalar_like(t, 1) - below - above;
  return {dy * within, unbroadcast(dy * below, low, t), unbroadcast(dy * above, high, t)};
}

} // namespace

extern constexpr op_def maximum{
    .name = "Maximum",
    .doc = "Takes the larger one of x and y, element by element.\n\nBroadcasts by NumPy's rules. "
           "Where one is NaN, so is the result. The gradient goes to x where both are equal.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = maximum_gradient,
    .example = R"(
z = Maximum(f32[-1, 0, 5], f32(0))
fetch z = f32[0, 0, 5]
)",
};

extern constexpr op_def minimum{
    .name = "Minimum",
    .doc = "Takes the smaller one of x and y, element by element.\n\nBroadcasts by NumPy's rules. "
           "Where one is NaN, so is the result. The gradient goes to x where both are equal.",
    .inputs = {{"x", "T"}, {"y", "T"}},
    .outputs = {{"z", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects =
        effect::forwardable | effect::commutative | effect::elementwise | effect::broadcasting,
    .infer = infer::broadcast_inputs,
    .gradient = minimum_gradient,
    .example = R"(
z = Minimum(f32[-1, 0, 5], f32(0))
fetch z = f32[-1, 0, 0]
)",
};

extern constexpr op_def clip_by_value{
    .name = "ClipByValue",
    .doc = "Replaces elements below clip_value_min or above clip_value_max by that bound.\n\n"
           "Bounds are scalars, or have the shape of t. Where the least is larger than the most, "
           "the least is the result, and the gradient is of no use.",
    .inputs = {{"t", "T"}, {"clip_value_min", "T"}, {"clip_value_max", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", real_numbers}},
    .effects = effect::forwardable,
    .infer = infer_clip_by_value,
    .gradient = clip_by_value_gradient,
    .example = R"(
y = ClipByValue(f32[[-3, 0.5], [2, 7]], f32(-1), f32(5))
z = ClipByValue(f32[1, 2, 3], f32[2, 0, 0], f32[4, 4, 1])
fetch y = f32[[-1, 0.5], [2, 5]]
fetch z = f32[2, 2, 1]
)",
};

} // namespace troupe::ops::extreme_op
