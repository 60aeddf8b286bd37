#include "tests/support/test_ops.hpp"

#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/two_phase_op.hpp"
#include "troupe/runtime/state/waitable_resource.hpp"

#include <algorithm>
#include <stdexcept>

namespace troupe::test {
namespace {

constexpr auto kinds = one_of(dtype::i64, dtype::f32, dtype::f64);

result<shapes> same_for_all(const infer_context& context) {
  shapes dims;
  for (int i = 0; i < context.outputs(); ++i)
    dims.push_back(i < context.inputs() ? context.input(i) : context.input(0));
  return dims;
}

result<shapes> merged(const infer_context& context) {
  auto joint_shape = context.input(0);
  for (int i = 1; i < context.inputs(); ++i) {
    TROUPE_ASSIGN(joint_shape, merge(joint_shape, context.input(i)));
  }
  return shapes{joint_shape};
}

result<shapes> as_valued(const infer_context& context) {
  const auto& value = context.attr<tensor>("value");
  if (value.type() != context.attr<dtype>("dtype"))
    return context.invalid("value is ", value.type(), ", dtype says ",
                           context.attr<dtype>("dtype"));
  return shapes{value.dims()};
}

result<shapes> as_many_as_are_not_zero(const infer_context& context) {
  auto known = context.integers(0);
  return shapes{{known ? static_cast<int64_t>(known->size()) - std::ranges::count(*known, 0)
                       : unknown_extent}};
}

result<shapes> two_answers(const infer_context&) { return shapes{shape{}, shape{}}; }

// Tests answer such waits themselves.
void ask_nothing(waitable_resource&, question&&, answers&) {}
result<std::unique_ptr<waitable_resource>> make_queue(const node&, std::string) {
  return failure(error_kind::unimplemented, "tests have no queues");
}

constexpr port_list x{{"x", "T"}}, x_and_y{{"x", "T"}, {"y", "T"}}, y{{"y", "T"}};
constexpr attr_list typed_attrs{{"T", kinds}},
    typed{{"dtype", any_type}, {"shape", attr_kind::shape, true}};

edges gradient_of_add(gradient_context& context) {
  return {context.output_gradient(0), context.output_gradient(0)};
}
edges gradient_of_mul(gradient_context& context) {
  auto dz = context.output_gradient(0);
  return {context.op("Mul", {dz, context.input(1)}), context.op("Mul", {context.input(0), dz})};
}
edges gradient_of_neg(gradient_context& context) {
  return {context.op("Neg", {context.output_gradient(0)})};
}
edges gradient_of_both(gradient_context& context) {
  return {context.op("Add", {context.output_gradient(0), context.output_gradient(1)})};
}
edges gradient_of_add_n(gradient_context& context) {
  return edges(static_cast<size_t>(context.inputs()), context.output_gradient(0));
}
edges gradient_that_gives_up(gradient_context& context) {
  return context.fail("not for this case");
}
edges no_gradient(gradient_context&) { return {edge{}}; }
edges gradient_that_forgets(gradient_context&) { return {}; }

std::shared_ptr<named_state> make_variable(const node& variable_node, std::string name) {
  return std::make_shared<variable>(std::move(name), variable_node.attr<dtype>("dtype"),
                                    variable_node.attr<partial_shape>("shape"));
}

constexpr op_def definitions[] = {
    {.name = "Placeholder",
     .doc = "For tests.",
     .outputs = {{"y", "dtype"}},
     .attrs = typed,
     .effects = effect::must_be_fed,
     .infer = infer::shape_attr},
    {.name = "Const",
     .doc = "For tests.",
     .outputs = {{"y", "dtype"}},
     .attrs = {{"value", attr_kind::tensor}, {"dtype", any_type}},
     .infer = as_valued},
    {.name = "Add",
     .doc = "For tests.",
     .inputs = x_and_y,
     .outputs = y,
     .attrs = typed_attrs,
     .effects = effect::elementwise | effect::forwardable,
     .infer = infer::broadcast_inputs,
     .gradient = gradient_of_add},
    {.name = "Mul",
     .doc = "For tests.",
     .inputs = x_and_y,
     .outputs = y,
     .attrs = typed_attrs,
     .effects = effect::forwardable,
     .infer = infer::broadcast_inputs,
     .gradient = gradient_of_mul},
    {.name = "Neg",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .effects = effect::forwardable,
     .infer = infer::same_as_input,
     .gradient = gradient_of_neg},
    {.name = "AddN",
     .doc = "For tests.",
     .inputs = {{"xs", "T", "N"}},
     .outputs = y,
     .attrs = {{"T", kinds}, {"N", at_least{1}}},
     .effects = effect::forwardable,
     .infer = merged,
     .gradient = gradient_of_add_n},
    {.name = "ZerosLike",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .infer = infer::same_as_input,
     .gradient = no_gradient},
    {.name = "OnesLike",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .infer = infer::same_as_input,
     .gradient = no_gradient},
    {.name = "Identity",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = {{"T", any_type}},
     .infer = infer::same_as_input,
     .gradient = [](gradient_context& context) { return edges{context.output_gradient(0)}; }},
    {.name = "Both",
     .doc = "For tests.",
     .inputs = x,
     .outputs = {{"more", "T"}, {"less", "T"}},
     .attrs = typed_attrs,
     .effects = effect::forwardable,
     .infer = same_for_all,
     .gradient = gradient_of_both},
    {.name = "Tuple",
     .doc = "For tests.",
     .inputs = {{"xs", "Ts"}},
     .outputs = {{"ys", "Ts"}},
     .attrs = {{"Ts", attr_kind::types}},
     .infer = same_for_all},
    {.name = "Fail",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .infer = infer::same_as_input,
     .no_gradient = "it never ends well"},
    {.name = "GivesUp",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .infer = infer::same_as_input,
     .gradient = gradient_that_gives_up},
    {.name = "Forgets",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .infer = infer::same_as_input,
     .gradient = gradient_that_forgets},
    {.name = "Miscounts",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .infer = infer::nothing},
    {.name = "NoOp", .doc = "For tests.", .infer = infer::nothing},
    {.name = "Variable",
     .doc = "For tests.",
     .outputs = {ref("ref", "dtype")},
     .attrs = typed,
     .effects = effect::stateful,
     .state_kind = resource::variable,
     .create_state = make_variable,
     .infer = infer::shape_attr},
    {.name = "Assign",
     .doc = "For tests.",
     .inputs = {ref("ref", "T"), {"value", "T"}},
     .outputs = {ref("out", "T")},
     .attrs = {{"T", any_type}},
     .effects = effect::stateful,
     .infer = infer::same_as_input},
    {.name = "HostAssign",
     .doc = "For tests.",
     .inputs = {ref("ref", "T"), {"value", "T"}},
     .outputs = {ref("out", "T")},
     .attrs = {{"T", any_type}},
     .effects = effect::stateful,
     .infer = infer::same_as_input},
    {.name = "AssignAdd",
     .doc = "For tests.",
     .inputs = {ref("ref", "T"), {"delta", "T"}},
     .outputs = {ref("out", "T")},
     .attrs = typed_attrs,
     .effects = effect::stateful,
     .infer = infer::same_as_input},
    {.name = "Queue",
     .doc = "For tests.",
     .outputs = {ref("ref", "string", resource::queue)},
     .effects = effect::stateful,
     .state_kind = resource::queue,
     .make_waitable_resource = make_queue,
     .infer = infer::scalar},
    {.name = "Ask",
     .doc = "For tests.",
     .inputs = {ref("queue", "string", resource::queue), {"xs", "T", "N"}},
     .outputs = {{"answer", "T"}, {"more", "T"}},
     .attrs = {{"T", kinds, dtype::i64}, {"N", attr_kind::integer}},
     .effects = effect::stateful | effect::blocking,
     .start_operation = ask_nothing,
     .infer = two_answers},
    {.name = "Places",
     .doc = "For tests.",
     .inputs = x,
     .outputs = {{"places", "i64"}},
     .attrs = typed_attrs,
     .effects = effect::data_dependent_shape,
     .infer = as_many_as_are_not_zero},
    {.name = "HostOnly",
     .doc = "For tests.",
     .inputs = x,
     .outputs = y,
     .attrs = typed_attrs,
     .infer = infer::same_as_input},
};

template <class T>
T must(result<T> outcome) {
  if (!outcome)
    throw std::runtime_error{concat(outcome.status())};
  return *std::move(outcome);
}

} // namespace

const registry& ops() {
  static const auto known = [] {
    registry ops;
    for (const auto& op : definitions)
      if (auto added = ops.add(op); !added)
        throw std::runtime_error{added.message()};
    for (const auto& kernel : kernels())
      if (auto added = ops.add(kernel); !added)
        throw std::runtime_error{added.message()};
    return ops;
  }();
  return known;
}

edge add(graph& target, node_spec spec) {
  auto* added = must(target.add(std::move(spec)));
  return {added, 0};
}

edge constant(graph& target, tensor value) {
  auto type = value.type();
  return add(target, {.op = "Const", .attrs = {{"value", std::move(value)}, {"dtype", type}}});
}

result<std::shared_ptr<named_state>> variables::operator()(const node& target_node) {
  auto& state = by_name_[target_node.name()];
  if (!state)
    state = target_node.op().create_state(target_node, target_node.name());
  return state;
}

} // namespace troupe::test
