#include "troupe/runtime/autodiff/function_gradient.hpp"

#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/tuple.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>

namespace troupe {
namespace {

using place_list = std::vector<size_t>;

// Returns which arguments a result depends on through types that have gradients.
std::vector<bool> arguments_of_result(edge result, size_t arguments) {
  std::vector<bool> is_used(arguments), is_visited(result.node->graph().nodes().size());
  std::vector<const node*> pending{result.node};
  while (!pending.empty()) {
    const auto* visited = pending.back();
    pending.pop_back();
    if (is_visited[visited->index()])
      continue;
    is_visited[visited->index()] = true;
    if (&visited->op() == &internal_ops::feed || &visited->op() == &internal_ops::variable_argument)
      is_used[static_cast<size_t>(visited->attr<int64_t>("index"))] = true;
    for (const auto& input : visited->inputs())
      if (carries_gradients(input.type()))
        pending.push_back(input.node);
  }
  return is_used;
}

std::vector<std::vector<bool>> arguments_of_results(const function& source) {
  auto opened_body = copy_body(source);
  std::vector<std::vector<bool>> used_arguments;
  for (const auto& result_edge : opened_body.results)
    used_arguments.push_back(carries_gradients(result_edge.type())
                                 ? arguments_of_result(result_edge, source.arguments())
                                 : std::vector<bool>(source.arguments()));
  return used_arguments;
}

bool takes_gradients(const function& callee, size_t argument) {
  return carries_gradients(callee.argument(argument).output_type(0)) &&
         (!callee.argument_is_ref(argument) ||
          &callee.argument(argument).op() == &internal_ops::variable_argument);
}

result<edge> add(graph& target, node_spec spec, int output = 0) {
  TROUPE_ASSIGN(auto* added, target.add(std::move(spec)));
  return added->output(output);
}

result<node*> add_call(graph& target, function_value callee, const std::vector<edge>& arguments,
                       std::vector<dtype> results = {}, const node* noinline_as = nullptr) {
  auto has_effects = !callee.body || callee.body->has_effects();
  node_spec spec{.op = has_effects ? "StatefulPartitionedCall" : "PartitionedCall",
                 .inputs = arguments,
                 .attrs = {{"f", std::move(callee)},
                           {"_noinline", noinline_as && noinline_as->attr<bool>("_noinline")}}};
  if (!results.empty())
    spec.attrs["Tout"] = std::move(results);
  return target.add(std::move(spec));
}

// Calls the backward function with gradients, saved values, and the arguments in `kept`.
result<node*> call_backward(const function_gradients::forward_backward& split,
                            const std::vector<edge>& gradients, edge tuple,
                            const std::map<size_t, edge>& kept, graph& target) {
  auto arguments = gradients;
  TROUPE_ASSIGN(auto items, add_items(tuple, split.saved));
  for (const auto& [is_argument, index] : split.needs)
    arguments.push_back(is_argument ? kept.at(index) : items[index]);
  return add_call(target, {split.backward->name(), split.backward}, arguments);
}

std::vector<edge> outputs_of(node& source) {
  std::vector<edge> outputs;
  for (int i = 0; i < source.outputs(); ++i)
    outputs.push_back(source.output(i));
  return outputs;
}

// Returns the function attributes of a node, with other functions in their places.
attr_map with_functions(const node& source, const std::vector<function_value>& functions) {
  attr_map attrs;
  size_t next = 0;
  for (const auto& attr : source.op().attrs)
    if (attr.kind == attr_kind::function)
      attrs[std::string{attr.name}] = functions[next++];
    else if (attr.kind == attr_kind::functions)
      attrs[std::string{attr.name}] = functions;
  return attrs;
}

// Wraps a function with a custom gradient in a function that calls it, so that differentiating the
// call finds the custom gradient. Other functions are returned unchanged.
result<std::shared_ptr<const function>>
wrap_custom_gradient(std::shared_ptr<const function> source) {
  if (!source->gradient().backward && source->gradient().arguments.empty())
    return source;
  auto opened_body = copy_body(*source);
  auto body = std::make_unique<graph>(source->body().ops());
  std::vector<edge> arguments;
  for (size_t i = 0; i < source->arguments(); ++i) {
    TROUPE_ASSIGN(auto argument, add_value_argument(*body, i, opened_body.arguments[i]));
    arguments.push_back(argument);
  }
  TROUPE_ASSIGN(auto* call, add_call(*body, {source->name(), source}, arguments));
  return function::make(source->name(), std::move(body), outputs_of(*call));
}

// -- calls ----------------------------------------------------------------------------------------

result<edges> recursive_call_gradient(gradient_context& at,
                                      const function_gradients::recursive& recursion,
                                      const function_value& forward,
                                      const function_value& backward) {
  auto& call = at.mutable_node();
  std::vector<dtype> types;
  for (int i = 0; i < call.outputs(); ++i)
    types.push_back(call.output_type(i));
  types.push_back(dtype::variant);
  auto tuple_index = call.outputs();
  TROUPE_TRY(call.graph().widen(call, {}, {{"f", forward}, {"Tout", types}}));
  std::vector<edge> arguments;
  for (auto position : recursion.results)
    arguments.push_back(at.output_gradient(static_cast<int>(position)));
  arguments.push_back(call.output(tuple_index));
  std::vector<dtype> results;
  for (auto position : recursion.arguments)
    results.push_back(at.input(static_cast<int>(position)).type());
  TROUPE_ASSIGN(auto* backward_call, add_call(call.graph(), backward, arguments, results));
  edges gradients(call.inputs().size());
  for (size_t i = 0; i < recursion.arguments.size(); ++i)
    gradients[recursion.arguments[i]] = backward_call->output(static_cast<int>(i));
  return gradients;
}

// Binds calls of `self` by its name that remain in the split functions. They are not differentiated
// and call the original function.
status bind_recursive_calls(graph& target, const function_value& self);

result<std::shared_ptr<const function>> with_bound_calls(std::shared_ptr<const function> target,
                                                         const function_value& self) {
  auto gradient = target->gradient();
  if (gradient.backward) {
    TROUPE_ASSIGN(gradient.backward, with_bound_calls(gradient.backward, self));
  }
  if (gradient.backward == target->gradient().backward && !calls_itself(target->body(), self.name))
    return target;
  auto opened_body = copy_body(*target);
  TROUPE_TRY(bind_recursive_calls(*opened_body.body, self));
  return function::make(target->name(), std::move(opened_body.body), opened_body.results,
                        std::move(gradient));
}

status bind_recursive_calls(graph& target, const function_value& self) {
  for (const auto& caller : target.nodes()) {
    std::vector<function_value> functions;
    bool is_changed = false;
    for (const auto* callee : functions_of(*caller)) {
      functions.push_back(*callee);
      if (callee->name == self.name) {
        functions.back() = self;
      } else if (callee->body) {
        TROUPE_ASSIGN(functions.back().body, with_bound_calls(callee->body, self));
      }
      is_changed = is_changed || functions.back().body != callee->body;
    }
    if (is_changed)
      TROUPE_TRY(target.widen(*caller, {}, with_functions(*caller, functions)));
  }
  return {};
}

// Computes all possible gradients, because recursive calls may need others than the first call.
result<edges> first_recursive_call_gradient(gradient_context& at, const function_value& value) {
  const auto& source = *value.body;
  function_gradients::recursive recursion{
      concat(value.name, "_saving"), concat(value.name, "_gradient"), {}, {}};
  for (size_t i = 0; i < source.results(); ++i)
    if (carries_gradients(source.result_type(i)))
      recursion.results.push_back(i);
  for (size_t i = 0; i < source.arguments(); ++i)
    if (takes_gradients(source, i))
      recursion.arguments.push_back(i);
  auto& state = *at.functions();
  auto [entry, is_new] = state.in_progress.try_emplace(value.name, recursion);
  if (!is_new)
    return failure(error_kind::unimplemented, "function '", value.name,
                   "' calls another function of the same name");
  auto split = state.split_forward_backward(source, recursion.results, recursion.arguments,
                                            [](size_t) { return false; });
  state.in_progress.erase(entry);
  TROUPE_TRY(split.status());
  TROUPE_TRY(bind_recursive_calls(*split->forward.body, value));
  TROUPE_ASSIGN(split->backward, with_bound_calls(split->backward, value));
  TROUPE_ASSIGN(auto tuple, add_tuple(*split->forward.body, split->saved));
  // The backward function, under the name by which it calls itself.
  auto backward_body = std::make_unique<graph>(source.body().ops());
  std::vector<edge> gradients;
  size_t next = 0;
  for (auto position : recursion.results) {
    TROUPE_ASSIGN(auto argument,
                  add_value_argument(*backward_body, next++, split->forward.results[position]));
    gradients.push_back(argument);
  }
  TROUPE_ASSIGN(auto saved, add_value_argument(*backward_body, next++, tuple));
  TROUPE_ASSIGN(auto* call, call_backward(*split, gradients, saved, {}, *backward_body));
  TROUPE_ASSIGN(auto backward,
                function::make(recursion.backward, std::move(backward_body), outputs_of(*call)));
  split->forward.results.push_back(tuple);
  TROUPE_ASSIGN(auto forward, function::make(recursion.forward, std::move(split->forward.body),
                                             split->forward.results));
  return recursive_call_gradient(at, recursion, {recursion.forward, forward},
                                 {recursion.backward, backward});
}

// Calls the function's custom gradient.
result<edges> differentiate_by_custom_gradient(gradient_context& at, const function& callee) {
  auto& call = at.mutable_node();
  const auto& [backward, argument_indices] = callee.gradient();
  if (!backward)
    return failure(
        error_kind::unimplemented, "function '", callee.name(),
        "' has a custom gradient that was not loaded: it is of an order that was not loaded, "
        "or of a variable");
  edges gradients(call.inputs().size());
  if (std::ranges::none_of(argument_indices, [&](size_t position) {
        return at.needs_gradient(static_cast<int>(position));
      }))
    return gradients;
  auto arguments = call.inputs();
  for (int i = 0; i < static_cast<int>(callee.results()); ++i)
    if (!callee.result_is_ref(static_cast<size_t>(i)) && carries_gradients(call.output_type(i)))
      arguments.push_back(at.output_gradient(i));
  TROUPE_ASSIGN(auto* backward_call,
                add_call(call.graph(), {backward->name(), backward}, arguments, {}, &call));
  for (size_t i = 0; i < argument_indices.size(); ++i) {
    gradients[argument_indices[i]] = backward_call->output(static_cast<int>(i));
    const auto& argument = call.inputs()[argument_indices[i]];
    if (!gradients[argument_indices[i]].dims().compatible(argument.dims()))
      return invalid("function '", callee.name(), "': its own gradient of argument ",
                     argument_indices[i], " has shape ", gradients[argument_indices[i]].dims(),
                     ", and '", argument, "' has ", argument.dims());
  }
  return gradients;
}

result<edges> call_gradient(gradient_context& at) {
  auto& call = at.mutable_node();
  const auto value = *functions_of(call).front();
  auto& state = *at.functions();
  if (!value.body) {
    auto recursion = state.in_progress.find(value.name);
    if (recursion == state.in_progress.end())
      return failure(error_kind::unimplemented, "function '", value.name, "' is not known here");
    return recursive_call_gradient(at, recursion->second, {recursion->second.forward, {}},
                                   {recursion->second.backward, {}});
  }
  const auto& callee = *value.body;
  if (callee.gradient().backward || !callee.gradient().arguments.empty())
    return differentiate_by_custom_gradient(at, callee);
  if (calls_itself(callee.body(), value.name))
    return first_recursive_call_gradient(at, value);
  place_list result_indices, argument_indices;
  std::vector<bool> is_needed(callee.arguments());
  auto used_by_result = arguments_of_results(callee);
  for (size_t i = 0; i < callee.results(); ++i) {
    if (!at.has_output_gradient(static_cast<int>(i)) || !carries_gradients(callee.result_type(i)))
      continue;
    result_indices.push_back(i);
    for (size_t k = 0; k < is_needed.size(); ++k)
      is_needed[k] = is_needed[k] || used_by_result[i][k];
  }
  for (size_t i = 0; i < callee.arguments(); ++i)
    if (is_needed[i] && at.needs_gradient(static_cast<int>(i)) && takes_gradients(callee, i))
      argument_indices.push_back(i);
  edges gradients(call.inputs().size());
  if (argument_indices.empty())
    return gradients;
  auto& split_call = state.calls[{&callee, result_indices, argument_indices}];
  if (!split_call.backward.body) {
    TROUPE_ASSIGN(auto split, state.split_forward_backward(callee, result_indices, argument_indices,
                                                           [](size_t) { return true; }));
    auto results = split.forward.results;
    results.insert(results.end(), split.saved.begin(), split.saved.end());
    TROUPE_ASSIGN(auto forward, function::make(concat(value.name, "_saving"),
                                               std::move(split.forward.body), results));
    split_call = {
        {forward->name(), forward}, {split.backward->name(), split.backward}, split.needs};
  }
  auto first_saved = call.outputs();
  if (split_call.forward.body->results() > static_cast<size_t>(first_saved))
    TROUPE_TRY(call.graph().widen(call, {}, {{"f", split_call.forward}}));
  std::vector<edge> arguments;
  for (auto position : result_indices)
    arguments.push_back(at.output_gradient(static_cast<int>(position)));
  for (const auto& [is_argument, index] : split_call.needs)
    arguments.push_back(is_argument ? at.input(static_cast<int>(index))
                                    : call.output(first_saved + static_cast<int>(index)));
  TROUPE_ASSIGN(auto* backward_call,
                add_call(call.graph(), split_call.backward, arguments, {}, &call));
  for (size_t i = 0; i < argument_indices.size(); ++i)
    gradients[argument_indices[i]] = backward_call->output(static_cast<int>(i));
  return gradients;
}

// -- branches -------------------------------------------------------------------------------------

using body_list = std::vector<std::shared_ptr<const function>>;

result<body_list> bodies_of_branches(const node& branch) {
  body_list bodies;
  for (const auto* callee : functions_of(branch)) {
    if (!callee->body)
      return failure(error_kind::unimplemented, "a branch is a function that is not known here");
    TROUPE_ASSIGN(auto body, wrap_custom_gradient(callee->body));
    bodies.push_back(body);
  }
  return bodies;
}

// The forward and backward functions of all branches, which take the same arguments.
struct split_branches {
  place_list results, arguments; // those that have gradients
  place_list kept;               // the arguments that backward functions take unchanged
  std::vector<function_gradients::forward_backward> splits = {};
  bool has_saved = false; // whether a forward function saves values
};

// Finds the results with a gradient, and the arguments that need one. Argument 0 of the branches is
// input `first` of the node.
split_branches find_gradients_of_branches(gradient_context& at, const body_list& bodies,
                                          size_t first) {
  const auto& body = *bodies.front();
  std::vector<bool> is_needed(body.arguments());
  for (const auto& branch_body : bodies) {
    auto used_by_result = arguments_of_results(*branch_body);
    for (size_t i = 0; i < used_by_result.size(); ++i)
      for (size_t k = 0; at.has_output_gradient(static_cast<int>(i)) && k < is_needed.size(); ++k)
        is_needed[k] = is_needed[k] || used_by_result[i][k];
  }
  split_branches split;
  for (size_t i = 0; i < body.results(); ++i)
    if (at.has_output_gradient(static_cast<int>(i)) && carries_gradients(body.result_type(i)))
      split.results.push_back(i);
  for (size_t i = 0; i < is_needed.size(); ++i)
    if (is_needed[i] && at.needs_gradient(static_cast<int>(first + i)) && takes_gradients(body, i))
      split.arguments.push_back(i);
  return split;
}

// Appends the arguments that the backward function takes unchanged, each once.
void add_kept_arguments(place_list& kept, const function_gradients::forward_backward& split) {
  for (const auto& need : split.needs)
    if (need.is_argument && std::ranges::find(kept, need.index) == kept.end())
      kept.push_back(need.index);
}

status split_bodies(split_branches& split, const body_list& bodies, function_gradients& state) {
  for (const auto& body : bodies) {
    TROUPE_ASSIGN(auto functions,
                  state.split_forward_backward(*body, split.results, split.arguments,
                                               [](size_t) { return true; }));
    add_kept_arguments(split.kept, functions);
    split.has_saved = split.has_saved || !functions.saved.empty();
    split.splits.push_back(std::move(functions));
  }
  return {};
}

// Makes the function of a branch of the gradient. It takes the gradients of results, the tuple of
// saved values if a branch has any, and the kept arguments.
result<function_value> make_backward_branch(const std::string& name, const split_branches& branches,
                                            const function_gradients::forward_backward& split,
                                            edge tuple) {
  auto body = std::make_unique<graph>(split.forward.body->ops());
  std::vector<edge> gradients;
  std::map<size_t, edge> arguments;
  size_t next = 0;
  for (auto position : branches.results) {
    TROUPE_ASSIGN(auto argument,
                  add_value_argument(*body, next++, split.forward.results[position]));
    gradients.push_back(argument);
  }
  edge saved;
  if (branches.has_saved) {
    TROUPE_ASSIGN(saved, add_value_argument(*body, next++, tuple));
  }
  for (auto position : branches.kept) {
    TROUPE_ASSIGN(arguments[position],
                  add_value_argument(*body, next++, split.forward.arguments[position]));
  }
  TROUPE_ASSIGN(auto* call, call_backward(split, gradients, saved, arguments, *body));
  TROUPE_ASSIGN(auto backward, function::make(name, std::move(body), outputs_of(*call)));
  return function_value{name, backward};
}

// Makes the functions of the gradient. Makes the branches of the node save values if a backward
// function needs any.
result<std::vector<function_value>> make_backward_branches(node& branch, const body_list& bodies,
                                                           split_branches& branches) {
  std::vector<function_value> forward, backward;
  for (size_t i = 0; i < branches.splits.size(); ++i) {
    auto& split = branches.splits[i];
    edge tuple;
    if (branches.has_saved) {
      TROUPE_ASSIGN(tuple, add_tuple(*split.forward.body, split.saved));
    }
    TROUPE_ASSIGN(
        auto backward_function,
        make_backward_branch(concat(bodies[i]->name(), "_gradient"), branches, split, tuple));
    backward.push_back(std::move(backward_function));
    if (!branches.has_saved)
      continue;
    split.forward.results.push_back(tuple);
    TROUPE_ASSIGN(auto forward_function,
                  function::make(concat(bodies[i]->name(), "_saving"),
                                 std::move(split.forward.body), split.forward.results));
    forward.push_back({forward_function->name(), forward_function});
  }
  if (branches.has_saved)
    TROUPE_TRY(branch.graph().widen(branch, {}, with_functions(branch, forward)));
  return backward;
}

result<edges> branches_gradient(gradient_context& at) {
  auto& branch = at.mutable_node();
  const auto first = static_cast<size_t>(first_argument(branch.op()));
  TROUPE_ASSIGN(auto bodies, bodies_of_branches(branch));
  auto split = find_gradients_of_branches(at, bodies, first);
  edges gradients(branch.inputs().size());
  if (split.arguments.empty())
    return gradients;
  TROUPE_TRY(split_bodies(split, bodies, *at.functions()));
  std::vector<edge> inputs{branch.inputs()[0]};
  for (auto position : split.results)
    inputs.push_back(at.output_gradient(static_cast<int>(position)));
  const auto tuple_index = branch.outputs();
  TROUPE_ASSIGN(auto backward, make_backward_branches(branch, bodies, split));
  if (split.has_saved)
    inputs.push_back(branch.output(tuple_index));
  for (auto position : split.kept)
    inputs.push_back(branch.inputs()[first + position]);
  auto has_effects =
      std::ranges::any_of(backward, [](auto& value) { return value.body->has_effects(); });
  auto by_number = branch.op().calls == call_kind::by_number;
  TROUPE_ASSIGN(auto* backward_node,
                branch.graph().add({.op = by_number     ? has_effects ? "Case" : "StatelessCase"
                                          : has_effects ? "If"
                                                        : "StatelessIf",
                                    .inputs = inputs,
                                    .attrs = with_functions(branch, backward)}));
  for (size_t i = 0; i < split.arguments.size(); ++i)
    gradients[first + split.arguments[i]] = backward_node->output(static_cast<int>(i));
  return gradients;
}

// -- loops ----------------------------------------------------------------------------------------

// Returns the loop variables whose gradients the backward loop carries: those that a gradient
// reaches and that affect a needed gradient, after any number of iterations.
place_list carried_variables(gradient_context& at, const function& body) {
  auto used_by_result = arguments_of_results(body);
  auto count = body.arguments();
  std::vector<bool> reached(count), matters(count);
  for (size_t i = 0; i < count; ++i) {
    auto is_differentiable = takes_gradients(body, i);
    reached[i] = is_differentiable && at.has_output_gradient(static_cast<int>(i));
    matters[i] = is_differentiable && at.needs_gradient(static_cast<int>(i));
  }
  for (bool grows = true; grows;) {
    grows = false;
    for (size_t i = 0; i < count; ++i)
      for (size_t k = 0; k < count; ++k) {
        if (!used_by_result[i][k] || !takes_gradients(body, k) || !takes_gradients(body, i))
          continue;
        grows = grows || (reached[i] && !reached[k]) || (matters[k] && !matters[i]);
        reached[k] = reached[k] || reached[i];
        matters[i] = matters[i] || matters[k];
      }
  }
  place_list variables;
  for (size_t i = 0; i < count; ++i)
    if (reached[i] && matters[i])
      variables.push_back(i);
  return variables;
}

result<edge> integers(graph& target, std::vector<int32_t> values, bool is_scalar = false) {
  auto value = is_scalar ? tensor::scalar(values[0]) : tensor::vector(values);
  return add(target, {.op = "Const", .attrs = {{"value", value}, {"dtype", dtype::i32}}});
}

// Makes the loop save one tuple per iteration, as an item of a list that is a loop variable.
status save_iterations(node& loop, function_gradients::forward_backward& split) {
  auto& body = *split.forward.body;
  auto& target = loop.graph();
  auto scalar = attr_value{tensor::scalar(int32_t{-1})};
  TROUPE_ASSIGN(auto* dims, target.add_before(
                                loop, {.op = "Const",
                                       .attrs = {{"value", tensor::vector(std::vector<int32_t>{})},
                                                 {"dtype", dtype::i32}}}));
  TROUPE_ASSIGN(auto* any_count,
                target.add_before(
                    loop, {.op = "Const", .attrs = {{"value", scalar}, {"dtype", dtype::i32}}}));
  TROUPE_ASSIGN(auto* empty,
                target.add_before(loop, {.op = "EmptyTensorList",
                                         .inputs = {dims->output(0), any_count->output(0)},
                                         .attrs = {{"element_dtype", dtype::variant}}}));
  auto list_like = empty->output(0);
  auto count = split.forward.arguments.size();
  TROUPE_ASSIGN(auto list, add_value_argument(body, count, list_like));
  TROUPE_ASSIGN(auto tuple, add_tuple(body, split.saved, loop.attr<bool>("_swap_memory")));
  TROUPE_ASSIGN(auto extended_list,
                add(body, {.op = "TensorListPushBack", .inputs = {list, tuple}}));
  split.forward.results.push_back(extended_list);
  auto functions = functions_of(loop);
  auto condition = copy_body(*functions[0]->body);
  TROUPE_TRY(add_value_argument(*condition.body, count, list_like).status());
  TROUPE_ASSIGN(auto condition_function,
                function::make(functions[0]->name, std::move(condition.body), condition.results));
  TROUPE_ASSIGN(auto body_function,
                function::make(concat(functions[1]->name, "_saving"), std::move(split.forward.body),
                               split.forward.results));
  return target.widen(loop, {list_like},
                      with_functions(loop, {{condition_function->name(), condition_function},
                                            {body_function->name(), body_function}}));
}

// The forward and backward functions of a loop's body.
struct split_loop {
  function_gradients::forward_backward functions;
  place_list carried; // loop variables whose gradients the backward loop carries
  place_list kept;    // loop variables that the backward loop takes unchanged
};

// Adds the arguments of a function of the backward loop: the list of saved values, the gradients,
// and the kept loop variables.
result<std::vector<edge>> add_arguments_of_backward_loop(graph& target, const split_loop& split) {
  TROUPE_ASSIGN(auto* list, target.add({.op = "_Feed",
                                        .name = "argument_0",
                                        .attrs = {{"index", int64_t{0}},
                                                  {"dtype", dtype::variant},
                                                  {"shape", partial_shape{shape{}}}}}));
  std::vector<edge> arguments{list->output(0)};
  for (const auto* group : {&split.carried, &split.kept})
    for (auto position : *group) {
      TROUPE_ASSIGN(auto argument, add_value_argument(target, arguments.size(),
                                                      split.functions.forward.arguments[position]));
      arguments.push_back(argument);
    }
  return arguments;
}

// The backward loop runs while the list has items.
result<std::shared_ptr<const function>> make_backward_condition(std::string name,
                                                                const split_loop& split) {
  auto body = std::make_unique<graph>(split.functions.forward.body->ops());
  TROUPE_ASSIGN(auto arguments, add_arguments_of_backward_loop(*body, split));
  TROUPE_ASSIGN(auto remaining, add(*body, {.op = "TensorListLength", .inputs = {arguments[0]}}));
  TROUPE_ASSIGN(auto zero, integers(*body, {0}, true));
  TROUPE_ASSIGN(auto has_items, add(*body, {.op = "Greater", .inputs = {remaining, zero}}));
  return function::make(std::move(name), std::move(body), {has_items});
}

result<std::shared_ptr<const function>> make_backward_body(std::string name,
                                                           const split_loop& split) {
  auto body = std::make_unique<graph>(split.functions.forward.body->ops());
  TROUPE_ASSIGN(auto arguments, add_arguments_of_backward_loop(*body, split));
  TROUPE_ASSIGN(auto dims, integers(*body, {}));
  TROUPE_ASSIGN(auto* popped, body->add({.op = "TensorListPopBack",
                                         .inputs = {arguments[0], dims},
                                         .attrs = {{"element_dtype", dtype::variant}}}));
  const auto kept_begin = arguments.begin() + 1 + std::ssize(split.carried);
  std::map<size_t, edge> kept;
  for (size_t i = 0; i < split.kept.size(); ++i)
    kept[split.kept[i]] = kept_begin[static_cast<std::ptrdiff_t>(i)];
  TROUPE_ASSIGN(auto* call, call_backward(split.functions, {arguments.begin() + 1, kept_begin},
                                          popped->output(1), kept, *body));
  std::vector<edge> results{popped->output(0)};
  for (const auto& output : outputs_of(*call))
    results.push_back(output);
  results.insert(results.end(), kept_begin, arguments.end());
  return function::make(std::move(name), std::move(body), results);
}

result<edges> loop_gradient(gradient_context& at) {
  auto& loop = at.mutable_node();
  auto functions = functions_of(loop);
  if (!functions[0]->body || !functions[1]->body)
    return failure(error_kind::unimplemented, "its body is a function that is not known here");
  TROUPE_ASSIGN(const auto body, wrap_custom_gradient(functions[1]->body));
  edges gradients(loop.inputs().size());
  auto carried = carried_variables(at, *body);
  if (carried.empty())
    return gradients;
  auto recomputes = loop.attr<bool>("_recompute");
  auto stays = [&](size_t i) { return body->passed_through(i) == static_cast<int>(i); };
  TROUPE_ASSIGN(auto split_body,
                at.functions()->split_forward_backward(*body, carried, carried, stays, recomputes));
  split_loop split{std::move(split_body), std::move(carried), {}};
  add_kept_arguments(split.kept, split.functions);
  TROUPE_ASSIGN(auto condition,
                make_backward_condition(concat(functions[0]->name, "_gradient"), split));
  TROUPE_ASSIGN(auto backward_body,
                make_backward_body(concat(functions[1]->name, "_gradient"), split));

  auto list_index = loop.outputs();
  auto parallel_iterations = loop.attr<int64_t>("parallel_iterations");
  TROUPE_TRY(save_iterations(loop, split.functions));
  std::vector<edge> inputs{loop.output(list_index)};
  for (auto position : split.carried)
    inputs.push_back(at.output_gradient(static_cast<int>(position)));
  for (auto position : split.kept)
    inputs.push_back(loop.inputs()[position]);
  TROUPE_ASSIGN(
      auto* added,
      loop.graph().add({.op = backward_body->has_effects() ? "While" : "StatelessWhile",
                        .inputs = inputs,
                        .attrs = {{"cond", function_value{condition->name(), condition}},
                                  {"body", function_value{backward_body->name(), backward_body}},
                                  {"parallel_iterations", parallel_iterations},
                                  {"_recompute", recomputes},
                                  {"_swap_memory", loop.attr<bool>("_swap_memory")}}}));
  gradients.resize(loop.inputs().size()); // the list is an added input
  for (size_t i = 0; i < split.carried.size(); ++i)
    gradients[split.carried[i]] = added->output(static_cast<int>(1 + i));
  return gradients;
}

edges value_or_note(gradient_context& at, result<edges> gradients) {
  if (gradients)
    return *std::move(gradients);
  at.mutable_node().graph().record_error(gradients.status());
  return edges(at.source_node().inputs().size());
}

} // namespace

edges gradient_of_call(gradient_context& at) { return value_or_note(at, call_gradient(at)); }
edges gradient_of_branches(gradient_context& at) {
  return value_or_note(at, branches_gradient(at));
}
edges gradient_of_loop(gradient_context& at) { return value_or_note(at, loop_gradient(at)); }

} // namespace troupe
