// Joins strings with a separator.
#include "troupe/ops/define/axes.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_join_op {
namespace {

result<shapes> infer_string_join(const infer_context& at) {
  partial_shape joint{shape{}};
  for (int i = 0; i < at.inputs(); ++i) {
    const auto& next = at.input(i);
    if (!next.has_rank())
      return shapes{partial_shape::unknown()};
    if (next.rank() == 0)
      continue;
    auto merged = joint.rank() == 0 ? next : merge(joint, next);
    if (!merged)
      return at.invalid("all inputs must have one shape or be scalars, got ", joint, " and ", next);
    joint = *std::move(merged);
  }
  return shapes{joint};
}

result<shapes> infer_reduce_join(const infer_context& at) {
  const auto& dims = at.input(0);
  auto axes = at.integers(1);
  if (!dims.has_rank() || (!axes && !at.attr<bool>("keep_dims")))
    return shapes{partial_shape::unknown()};
  if (!axes)
    return shapes{partial_shape::of_rank(dims.rank())};
  TROUPE_ASSIGN(auto reduced_axes, axes_of(*axes, dims.rank()));
  return shapes{without(dims, reduced_axes, at.attr<bool>("keep_dims"))};
}

} // namespace

extern constexpr op_def string_join{
    .name = "StringJoin",
    .doc = "Puts the strings of all inputs together, element by element, with a separator between "
           "them.\n\nInputs have one shape; scalars go with each element.",
    .inputs = {{"inputs", "string", "N"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"N", at_least{0}}, {"separator", ""}},
    .infer = infer_string_join,
    .no_gradient = "text has none",
    .example = R"(
y = StringJoin(string["a", "b"], string("x"), string["c", ""]) separator="-"
fetch y = string["a-x-c", "b-x-"]
)",
};

extern constexpr op_def reduce_join{
    .name = "ReduceJoin",
    .doc = "Puts the strings of some axes together, with a separator between them.\n\n"
           "The first of the axes runs fastest: [1, 0] joins a matrix row by row. No axes change "
           "nothing.",
    .inputs = {{"inputs", "string"}, on_host("reduction_indices", "i32")},
    .outputs = {{"output", "string"}},
    .attrs = {{"keep_dims", false}, {"separator", ""}},
    .infer = infer_reduce_join,
    .no_gradient = "text has none",
    .example = R"(
rows = ReduceJoin(string[["a", "b"], ["c", "d"]], i32[1]) separator="-"
all = ReduceJoin(string[["a", "b"], ["c", "d"]], i32[0, 1])
fetch rows = string["a-b", "c-d"]
fetch all = string("acbd")
)",
};

} // namespace troupe::ops::string_join_op
