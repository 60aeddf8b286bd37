// Const: a value stored in the graph.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::constant_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& value = at.attr<tensor>("value");
  if (value.type() != at.attr<dtype>("dtype"))
    return at.invalid("value is ", value.type(), ", but dtype is ", at.attr<dtype>("dtype"));
  return shapes{value.dims()};
}

} // namespace

extern constexpr op_def constant{
    .name = "Const",
    .doc = "Gives the tensor that stands in the graph.",
    .outputs = {{"output", "dtype"}},
    .attrs = {{"value", attr_kind::tensor}, {"dtype", any_type}},
    .infer = infer,
    .no_gradient = "it has no inputs",
    .example = R"(
x = Const value=f32[1, 2] dtype=f32
y = f32[1, 2] # the same
fetch x = f32[1, 2]
fetch y = f32[1, 2]
)",
};

} // namespace troupe::ops::constant_op
