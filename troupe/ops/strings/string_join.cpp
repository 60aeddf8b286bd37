// StringJoin: strings put together, element by element.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::string_join_op {
namespace {

result<shapes> infer(const infer_context& at) {
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

} // namespace

extern constexpr op_def string_join{
    .name = "StringJoin",
    .doc = "Puts the strings of all inputs together, element by element, with a separator between "
           "them.\n\nInputs have one shape; scalars go with each element.",
    .inputs = {{"inputs", "string", "N"}},
    .outputs = {{"output", "string"}},
    .attrs = {{"N", at_least{0}}, {"separator", ""}},
    .infer = infer,
    .no_gradient = "text has none",
    .example = R"(
y = StringJoin(string["a", "b"], string("x"), string["c", ""]) separator="-"
fetch y = string["a-x-c", "b-x-"]
)",
};

} // namespace troupe::ops::string_join_op
