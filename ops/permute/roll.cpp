// Roll: shifts a tensor cyclically along its axes.
#include "troupe/ops/define/axes.hpp"
#include "troupe/ops/define/build.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::roll_op {
namespace {

result<shapes> infer(const infer_context& at) {
  TROUPE_TRY(merge(at.input(1), at.input(2)));
  for (int i : {1, 2})
    if (at.input(i).rank() > 1)
      return at.invalid("shift and axis must be scalars or vectors, got shape ", at.input(i));
  const auto& dims = at.input(0);
  if (dims.has_rank() && dims.rank() == 0)
    return at.invalid("input must have an axis, got a scalar");
  if (auto axes = at.integers(2); axes && dims.has_rank())
    for (auto axis : *axes)
      TROUPE_TRY(resolve_axis(axis, dims.rank()));
  return shapes{dims};
}

edges gradient(gradient_context& at) {
  return {build("Roll", {at.output_gradient(0), -at.input(1), at.input(2)}), {}, {}};
}

} // namespace

extern constexpr op_def roll{
    .name = "Roll",
    .doc = "Moves all elements by shift places along an axis; those beyond its end come in at its "
           "start.\n\nShift and axis may be vectors; an axis that is named twice is shifted twice. "
           "A negative shift moves backwards, a negative axis counts from the end.",
    .inputs = {{"input", "T"}, on_host("shift", "Tshift"), on_host("axis", "Taxis")},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", any_type}, {"Tshift", index_types}, {"Taxis", index_types}},
    .infer = infer,
    .gradient = gradient,
    .example = R"(
y = Roll(f32[[1, 2, 3], [4, 5, 6]], i32[1, -1], i32[0, 1])
fetch y = f32[[5, 6, 4], [2, 3, 1]]
)",
};

} // namespace troupe::ops::roll_op
