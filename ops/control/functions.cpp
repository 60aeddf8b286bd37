// Nodes that run functions: calls, branches and loops (white paper, 4.4).
#include "troupe/runtime/autodiff/function_gradient.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::functions_op {
namespace {

std::vector<edge> inputs_of(const infer_context& at) {
  std::vector<edge> sources;
  for (int i = 0; i < at.inputs(); ++i)
    sources.push_back(at.source(i));
  return sources;
}

std::vector<dtype> outputs_of(const infer_context& at) {
  std::vector<dtype> types;
  for (int i = 0; i < at.outputs(); ++i)
    types.push_back(at.output_type(i));
  return types;
}

status check_effects(const infer_context& at, const function_value& called) {
  auto disappears = at.op().calls == call_kind::once && !at.attr<bool>("_noinline");
  if (!disappears && !has(at.op().effects, effect::stateful) && called.body->has_effects())
    return at.invalid("function '", called.name,
                      "' has effects, which a node without state may not");
  return {};
}

// The output shapes that all functions agree on.
result<shapes> infer_results(const infer_context& at, const std::vector<function_value>& functions,
                             size_t first) {
  shapes joined;
  bool any = false;
  for (const auto& callee : functions) {
    if (!callee.body)
      continue;
    TROUPE_TRY(check_call(*callee.body, inputs_of(at), first, outputs_of(at)));
    TROUPE_TRY(check_effects(at, callee));
    for (size_t i = 0; i < callee.body->results(); ++i) {
      const auto& dims = callee.body->result_dims(i);
      if (any)
        joined[i] = join_shapes(joined[i], dims);
      else
        joined.push_back(dims);
    }
    any = true;
  }
  if (!any)
    joined.resize(static_cast<size_t>(at.outputs()));
  return joined;
}

result<shapes> infer_call(const infer_context& at) {
  return infer_results(at, {at.attr<function_value>("f")}, 0);
}

result<shapes> infer_if(const infer_context& at) {
  return infer_results(
      at, {at.attr<function_value>("then_branch"), at.attr<function_value>("else_branch")}, 1);
}

result<shapes> infer_case(const infer_context& at) {
  TROUPE_TRY(at.of_rank(0, 0).status());
  const auto& branches = at.attr<std::vector<function_value>>("branches");
  if (branches.empty())
    return at.invalid("needs at least one branch");
  return infer_results(at, branches, 1);
}

result<shapes> infer_while(const infer_context& at) {
  const auto& condition = at.attr<function_value>("cond");
  const auto& body = at.attr<function_value>("body");
  if (condition.body) {
    if (condition.body->results() != 1)
      return at.invalid("function '", condition.name, "' must give one result, gives ",
                        condition.body->results());
    TROUPE_TRY(check_call(*condition.body, inputs_of(at), 0, {condition.body->result_type(0)}));
  }
  if (!body.body)
    return shapes(static_cast<size_t>(at.outputs()));
  TROUPE_TRY(check_call(*body.body, inputs_of(at), 0, outputs_of(at)));
  TROUPE_TRY(check_effects(at, body));
  shapes outputs;
  for (size_t i = 0; i < body.body->results(); ++i) {
    const auto& argument_shape = body.body->argument(i).output_shape(0);
    if (!argument_shape.compatible(body.body->result_dims(i)))
      return at.invalid("loop variable ", i, " has shape ", argument_shape, ", and the body gives ",
                        body.body->result_dims(i));
    if (body.body->argument_is_ref(i) != body.body->result_is_ref(i))
      return at.invalid("loop variable ", i, " is state, which the body must hand on");
    outputs.push_back(argument_shape);
  }
  return outputs;
}

// The same op under another name, for functions with or without effects.
constexpr op_def of_effect(op_def def, std::string_view name, effect effects,
                           std::string_view example) {
  def.name = name;
  def.effects = effects;
  def.example = example;
  return def;
}

constexpr std::string_view call_doc =
    "Calls a function.\n\nThe nodes of the function take the place of the call before the step is "
    "placed, unless it calls itself or `_noinline` is true: then it runs as one node.";

constexpr std::string_view if_doc =
    "Calls one of two functions with the same inputs: then_branch if cond holds.\n\nA cond that is "
    "no boolean holds if it is a number other than 0 or a text that is not empty; one that is no "
    "scalar holds if it has elements. Both functions give results of the same types. Only the "
    "chosen one runs, with all its effects.";

constexpr std::string_view case_doc =
    "Calls the function of that number, from 0, with the other inputs; the last one if there is no "
    "such number.\n\nAll functions give results of the same types. Only the chosen one runs.";

constexpr std::string_view while_doc =
    "Calls body again and again, each time with what it gave before, as long as cond holds.\n\n"
    "Both take the loop variables: the inputs at first. The outputs are their last values. cond "
    "gives one result, which holds as that of If does. Shapes of loop variables may change where "
    "the functions' arguments leave them open.";

} // namespace

extern constexpr op_def partitioned_call{
    .name = "PartitionedCall",
    .doc = call_doc,
    .inputs = {{"args", "Tin"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"Tin", attr_kind::types, any_value},
              {"Tout", attr_kind::types, any_value},
              {"f", attr_kind::function},
              {"_noinline", false}},
    .calls = call_kind::once,
    .infer = infer_call,
    .gradient = gradient_of_call,
    .example = R"(
body twice(x: f32[2]) {
  y = Mul(x, f32(2))
  return y
}
x = Placeholder dtype=f32 shape=[2]
y = PartitionedCall(x) f=twice
feed x = f32[1, 2]
fetch y = f32[2, 4]
)",
};

extern constexpr op_def stateful_partitioned_call =
    of_effect(partitioned_call, "StatefulPartitionedCall", effect::stateful, R"(
body count(v: variable f32[]) {
  more = AssignAdd(v, f32(1))
  return more
}
v = VariableV2 dtype=f32 shape=[]
start = Assign(v, f32(5))
y = StatefulPartitionedCall(start) f=count
fetch y = f32(6)
)");

extern constexpr op_def if_{
    .name = "If",
    .doc = if_doc,
    .inputs = {on_host("cond", "Tcond"), {"input", "Tin"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"Tcond", any_type},
              {"Tin", attr_kind::types, any_value},
              {"Tout", attr_kind::types, any_value},
              {"then_branch", attr_kind::function},
              {"else_branch", attr_kind::function},
              {"output_shapes", attr_kind::shapes, true}},
    .effects = effect::stateful,
    .calls = call_kind::if_true,
    .infer = infer_if,
    .gradient = gradient_of_branches,
    .example = R"(
body count(v: variable f32[]) {
  more = AssignAdd(v, f32(1))
  return more
}
body look(v: variable f32[]) {
  now = Identity(v)
  return now
}
v = VariableV2 dtype=f32 shape=[]
start = Assign(v, f32(5))
more = Placeholder dtype=bool shape=[]
y = If(more, start) then_branch=count else_branch=look
feed more = bool(true)
fetch y = f32(6)
run
feed more = bool(false)
fetch y = f32(5)
)",
};

extern constexpr op_def stateless_if = of_effect(if_, "StatelessIf", effect::none, R"(
body twice(x: f32[2]) {
  y = Mul(x, f32(2))
  return y
}
body negative(x: f32[2]) {
  y = Neg(x)
  return y
}
which = Placeholder dtype=bool shape=[]
y = StatelessIf(which, f32[1, 2]) then_branch=twice else_branch=negative
feed which = bool(true)
fetch y = f32[2, 4]
)");

extern constexpr op_def case_{
    .name = "Case",
    .doc = case_doc,
    .inputs = {on_host("branch_index", "i32"), {"input", "Tin"}},
    .outputs = {{"output", "Tout"}},
    .attrs = {{"Tin", attr_kind::types, any_value},
              {"Tout", attr_kind::types, any_value},
              {"branches", attr_kind::functions},
              {"output_shapes", attr_kind::shapes, true}},
    .effects = effect::stateful,
    .calls = call_kind::by_number,
    .infer = infer_case,
    .gradient = gradient_of_branches,
    .example = R"(
body twice(x: f32[2]) {
  y = Mul(x, f32(2))
  return y
}
body negative(x: f32[2]) {
  y = Neg(x)
  return y
}
which = Placeholder dtype=i32 shape=[]
y = Case(which, f32[1, 2]) branches=[twice, negative]
feed which = i32(7)
fetch y = f32[-1, -2]
)",
};

extern constexpr op_def stateless_case = of_effect(case_, "StatelessCase", effect::none, R"(
body twice(x: f32[2]) {
  y = Mul(x, f32(2))
  return y
}
body negative(x: f32[2]) {
  y = Neg(x)
  return y
}
which = Placeholder dtype=i32 shape=[]
y = StatelessCase(which, f32[1, 2]) branches=[twice, negative]
feed which = i32(0)
fetch y = f32[2, 4]
)");

extern constexpr op_def while_{
    .name = "While",
    .doc = while_doc,
    .inputs = {{"input", "T"}},
    .outputs = {{"output", "T"}},
    .attrs = {{"T", attr_kind::types, any_value},
              {"cond", attr_kind::function},
              {"body", attr_kind::function},
              {"output_shapes", attr_kind::shapes, true},
              {"parallel_iterations", 10},
              {"_recompute", false},
              {"_swap_memory", false}},
    .effects = effect::stateful,
    .calls = call_kind::while_true,
    .infer = infer_while,
    .gradient = gradient_of_loop,
    .example = R"(
body less(i: i32[], v: variable f32[]) {
  y = Less(i, i32(3))
  return y
}
body next(i: i32[], v: variable f32[]) {
  more = AssignAdd(v, f32(2))
  next = Add(i, i32(1))
  return next, v
}
v = VariableV2 dtype=f32 shape=[]
start = Assign(v, f32(1))
loop = While(i32(0), start) cond=less body=next
sum = Identity(start, ^loop)
fetch loop:0 = i32(3)
fetch sum = f32(7)
)",
};

extern constexpr op_def stateless_while = of_effect(while_, "StatelessWhile", effect::none, R"(
body less(i: i32[], x: f32[2]) {
  y = Less(i, i32(3))
  return y
}
body next(i: i32[], x: f32[2]) {
  next = Add(i, i32(1))
  twice = Mul(x, f32(2))
  return next, twice
}
x = Placeholder dtype=f32 shape=[2]
loop = StatelessWhile(i32(0), x) cond=less body=next
feed x = f32[1, 2]
fetch loop:1 = f32[8, 16]
)");

} // namespace troupe::ops::functions_op
