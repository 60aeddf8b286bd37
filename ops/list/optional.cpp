// Optional values, in which branches of TensorFlow's functions keep values for their gradients.
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::optional_op {
namespace {

result<shapes> infer_get(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  const auto& declared_shapes = at.attr<std::vector<partial_shape>>("output_shapes");
  if (static_cast<int>(declared_shapes.size()) != at.outputs())
    return at.invalid("output_shapes must list one shape for each of ", at.outputs(), " types");
  return declared_shapes;
}

edges from_value_gradient(gradient_context& at) {
  std::vector<dtype> types;
  std::vector<partial_shape> value_shapes;
  for (int i = 0; i < at.inputs(); ++i) {
    types.push_back(at.input(i).type());
    value_shapes.push_back(at.input(i).dims());
  }
  auto values = at.op("OptionalGetValue", {at.output_gradient(0)},
                      {{"output_types", types}, {"output_shapes", value_shapes}});
  edges gradients(types.size());
  for (int i = 0; i < at.inputs() && values; ++i)
    gradients[static_cast<size_t>(i)] = {values.node, i};
  return gradients;
}

edges get_value_gradient(gradient_context& at) {
  edges components;
  for (int i = 0; i < at.source_node().outputs(); ++i)
    components.push_back(at.output_gradient(i));
  return {at.op("OptionalFromValue", components)};
}

} // namespace

extern constexpr op_def optional_from_value{
    .name = "OptionalFromValue",
    .doc = "Makes an optional that has these components.",
    .inputs = {{"components", "Toutput_types"}},
    .outputs = {{"optional", "variant"}},
    .attrs = {{"Toutput_types", attr_kind::types, any_value}},
    .infer = infer::scalar,
    .gradient = from_value_gradient,
    .example = R"(
some = OptionalFromValue(f32[1, 2], i32(3))
x = OptionalGetValue(some) output_types=[f32, i32] output_shapes=[[2], []]
fetch x = f32[1, 2]
fetch x:1 = i32(3)
)",
};

extern constexpr op_def optional_none{
    .name = "OptionalNone",
    .doc = "Makes an optional that has no value.",
    .outputs = {{"optional", "variant"}},
    .infer = infer::scalar,
    .no_gradient = "it depends on nothing",
    .example = R"(
none = OptionalNone
y = OptionalHasValue(none)
fetch y = bool(false)
)",
};

extern constexpr op_def optional_has_value{
    .name = "OptionalHasValue",
    .doc = "Outputs whether an optional has a value.",
    .inputs = {{"optional", "variant"}},
    .outputs = {{"has_value", "bool"}},
    .infer = infer::scalar,
    .no_gradient = "it is true or false",
    .example = R"(
some = OptionalFromValue(f32[1, 2])
y = OptionalHasValue(some)
fetch y = bool(true)
)",
};

extern constexpr op_def optional_get_value{
    .name = "OptionalGetValue",
    .doc = "Outputs the components of an optional, which must have a value.",
    .inputs = {{"optional", "variant"}},
    .outputs = {{"components", "output_types"}},
    .attrs = {{"output_types", attr_kind::types, any_value}, {"output_shapes", attr_kind::shapes}},
    .infer = infer_get,
    .gradient = get_value_gradient,
    .example = R"(
none = OptionalNone
y = OptionalGetValue(none) output_types=[f32] output_shapes=[[2]]
fetch y
error failed_precondition "has no value"
)",
};

} // namespace troupe::ops::optional_op
