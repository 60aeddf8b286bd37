#include "troupe/api/control_flow.hpp"
// Builds branches, loops and functions from callables.

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/runtime/functions/complete_control_flow.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"

#include <algorithm>

namespace troupe {
namespace {

using builder = std::function<std::vector<edge>(const std::vector<edge>&)>;
using gradient_builder =
    std::function<std::vector<edge>(const std::vector<edge>&, const std::vector<edge>&)>;

// Builds a function from a callable. The edges in `captured`, which sibling functions have
// captured, become captures first, so that all siblings take the same ones.
built_function build(graph& in, const std::vector<argument>& arguments,
                     const std::vector<edge>& captured, const builder& user,
                     std::string_view api_name, std::source_location where,
                     size_t copied_constant = function_body::small_constant) {
  built_function built{std::make_unique<function_body>(in, copied_constant), {}};
  std::vector<edge> parameters;
  for (const auto& parameter : arguments) {
    const auto* state =
        parameter.model.node && parameter.model.node->output_is_ref(parameter.model.index)
            ? resource_behind(parameter.model)
            : nullptr;
    parameters.push_back(
        state ? value_or_throw(built.body->add_state_argument(
                    state->op().state_kind, state->output_type(0), state->output_shape(0)))
              : built.body->add_argument(parameter.type, parameter.dims));
    throw_if_failed(built.body->take_error());
  }
  for (const auto& captured_edge : captured)
    value_or_throw(built.body->capture(captured_edge));
  auto results = user(parameters);
  for (const auto& result_edge : results) {
    if (result_edge.is_empty())
      reject(api_name, where, "a function returns an empty edge");
    built.results.push_back(value_or_throw(built.body->localize(result_edge)));
  }
  built.body->leave();
  return built;
}

function_value finish(built_function&& built, std::string name, custom_gradient gradient = {}) {
  auto body =
      function_body::finish(std::move(built.body), name, built.results, std::move(gradient));
  return {std::move(name), value_or_throw(std::move(body))};
}

defined_function described(function_value value, std::vector<edge> captured) {
  defined_function described_function{std::move(value), std::move(captured), {}};
  for (size_t i = 0; i < described_function.value.body->results(); ++i)
    described_function.results.push_back(described_function.value.body->result_type(i));
  return described_function;
}

// Adapts the shapes of the loop variables to the values that the body returns. Returns whether no
// shape has changed.
bool widen_shapes(std::vector<argument>& variables, const std::vector<edge>& returned_values,
                  bool shapes_are_given, std::source_location where) {
  if (returned_values.size() != variables.size())
    reject("while_loop", where, "the body returns ", returned_values.size(), " values for ",
           variables.size(), " loop variables");
  auto stable = true;
  for (size_t i = 0; i < variables.size(); ++i) {
    const auto& returned = returned_values[i];
    if (returned.type() != variables[i].type)
      reject("while_loop", where, "loop variable ", i, " is ", variables[i].type,
             ", and the body returns ", returned.type());
    auto merged = join_shapes(variables[i].dims, returned.dims());
    if (merged == variables[i].dims)
      continue;
    if (shapes_are_given)
      reject("while_loop", where, "loop variable ", i, " has shape ", variables[i].dims,
             " in while_options, and the body returns ", returned.dims());
    variables[i].dims = merged;
    stable = false;
  }
  return stable;
}

} // namespace

namespace detail {

void throw_empty_branch(std::source_location where) {
  reject("cond", where, "a branch is an empty function");
}

node& add_branches(edge selector, bool by_number, const std::vector<branch_builder>& branches,
                   std::string_view name, std::source_location where) {
  if (selector.is_empty() || branches.empty())
    reject(by_number ? "switch_case" : "cond", where,
           "needs an edge that selects a branch, and at least one branch");
  const auto* api_name = by_number ? "switch_case" : "cond";
  auto& in = selector.node->graph().innermost();
  std::vector<built_function> built_branches;
  std::vector<edge> captured;
  for (const auto& branch : branches)
    need_function(api_name, where, branch, "a branch");
  for (const auto& branch : branches) {
    built_branches.push_back(build(
        in, {}, captured, [&](auto&) { return branch(); }, api_name, where));
    captured = built_branches.back().body->captured();
  }
  node_spec spec{.op = {}, .name = std::string{name}, .inputs = {selector}, .where = where};
  if (auto outcome = complete_branches(spec, std::move(built_branches), by_number); !outcome)
    throw error{std::move(outcome).with_context(concat(api_name, " (", to_string(where), ')'))};
  auto& branch_node = *value_or_throw(in.add(std::move(spec)));
  choose_transfer(branch_node);
  return branch_node;
}

} // namespace detail

std::vector<edge> switch_case(edge index, const std::vector<detail::branch_builder>& branches,
                              std::string_view name, std::source_location where) {
  auto& branch_node = detail::add_branches(index, true, branches, name, where);
  return detail::outputs(branch_node, 0, 0);
}

std::vector<edge> while_loop(const std::vector<edge>& initial,
                             const std::function<edge(const std::vector<edge>&)>& condition,
                             const builder& body, const while_options& options,
                             std::source_location where) {
  if (initial.empty() || std::ranges::any_of(initial, &edge::is_empty))
    reject("while_loop", where,
           "a loop needs loop variables, and none of them may be an empty edge");
  need_function("while_loop", where, condition, "the condition");
  need_function("while_loop", where, body, "the body");
  if (!options.shapes.empty() && options.shapes.size() != initial.size())
    reject("while_loop", where, "got ", options.shapes.size(), " shapes for ", initial.size(),
           " loop variables");
  auto& in = initial.front().node->graph().innermost();
  std::vector<argument> variables(initial.begin(), initial.end());
  for (size_t i = 0; i < options.shapes.size(); ++i)
    variables[i].dims = options.shapes[i];
  for (auto& variable :
       variables) // loop variables are values, even if they are read from variables
    variable.model = {};
  // Extents that the body does not preserve become unknown, which may make others unknown: repeat
  // until no shape changes.
  for (;;) {
    auto test = build(
        in, variables, {}, [&](auto& v) { return std::vector{condition(v)}; }, "while_loop", where);
    auto iteration = build(in, variables, test.body->captured(), body, "while_loop", where);
    if (!widen_shapes(variables, iteration.results, !options.shapes.empty(), where))
      continue;
    node_spec spec{.op = {},
                   .name = std::string{options.name},
                   .inputs = initial,
                   .attrs = {{"parallel_iterations", options.parallel_iterations},
                             {"_recompute", options.recompute},
                             {"_swap_memory", options.swap_memory}},
                   .where = where};
    throw_if_failed(complete_loop(spec, std::move(test), std::move(iteration)));
    auto* loop_node = value_or_throw(in.add(std::move(spec)));
    detail::choose_transfer(*loop_node);
    std::vector<edge> results;
    for (size_t i = 0; i < initial.size(); ++i)
      results.push_back(loop_node->output(static_cast<int>(i)));
    return results;
  }
}

defined_function define(graph& in, std::string_view name, const std::vector<argument>& arguments,
                        const builder& user, std::source_location where) {
  need_function("define", where, user, "the builder of the function");
  auto built = build(in.innermost(), arguments, {}, user, "define", where);
  auto captured = built.body->captured();
  return described(finish(std::move(built), std::string{name}), std::move(captured));
}

defined_function define(graph& in, std::string_view name, const std::vector<argument>& arguments,
                        const builder& user, const gradient_builder& gradient,
                        std::source_location where) {
  need_function("define", where, user, "the builder of the function");
  need_function("define", where, gradient, "the gradient");
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto& like = arguments[i].model; like.node && like.node->output_is_ref(like.index))
      reject("define", where, "function '", name, "' has a gradient of its own, and argument ", i,
             " is a variable or table: let it take the value");
  auto reject_captures = [&](const built_function& built_body) {
    if (!built_body.body->captured().empty())
      reject("define", where, "function '", name, "' has a gradient of its own, and takes '",
             built_body.body->captured().front(), "' from outside: make it an argument");
  };
  auto forward = build(in.innermost(), arguments, {}, user, "define", where, SIZE_MAX);
  reject_captures(forward);
  auto gradient_arguments = arguments;
  for (const auto& forward_result : forward.results)
    if (carries_gradients(forward_result.type()))
      gradient_arguments.emplace_back(forward_result.type(), forward_result.dims());
  custom_gradient explicit_gradient;
  auto build_gradient = [&](const std::vector<edge>& inputs) {
    auto middle = inputs.begin() + static_cast<std::ptrdiff_t>(arguments.size());
    auto gradients = gradient({inputs.begin(), middle}, {middle, inputs.end()});
    if (gradients.size() != arguments.size())
      reject("define", where, "the gradient of function '", name, "' returns ", gradients.size(),
             " edges for ", arguments.size(), " arguments");
    for (size_t i = 0; i < gradients.size(); ++i)
      if (gradients[i])
        explicit_gradient.arguments.push_back(i);
    for (auto i : explicit_gradient.arguments) {
      if (gradients[i].type() != arguments[i].type || !carries_gradients(gradients[i].type()))
        reject("define", where, "the gradient of function '", name, "' returns ",
               gradients[i].type(), " for argument ", i, ", which is ", arguments[i].type,
               carries_gradients(arguments[i].type) ? "" : " and has none: return edge{}");
      if (!gradients[i].dims().compatible(arguments[i].dims))
        reject("define", where, "the gradient of function '", name, "' for argument ", i,
               " has shape ", gradients[i].dims(), ", and the argument has ", arguments[i].dims);
    }
    std::erase_if(gradients, [](const edge& candidate) { return candidate.is_empty(); });
    return gradients;
  };
  auto backward =
      build(in.innermost(), gradient_arguments, {}, build_gradient, "define", where, SIZE_MAX);
  reject_captures(backward);
  explicit_gradient.backward = finish(std::move(backward), concat(name, "_gradient")).body;
  return described(finish(std::move(forward), std::string{name}, std::move(explicit_gradient)), {});
}

defined_function define_recursive(
    graph& in, std::string_view name, const std::vector<argument>& arguments,
    const std::vector<dtype>& results,
    const std::function<std::vector<edge>(const defined_function&, const std::vector<edge>&)>& user,
    std::source_location where) {
  need_function("define_recursive", where, user, "the builder of the function");
  defined_function self{{std::string{name}, {}}, {}, results};
  auto function = define(
      in, name, arguments, [&](const std::vector<edge>& v) { return user(self, v); }, where);
  if (!function.captured.empty())
    reject("define_recursive", where, "function '", name, "' calls itself and takes '",
           function.captured.front(), "' from outside: make it an argument");
  if (function.results != results)
    reject("define_recursive", where, "function '", name,
           "' returns other types than the declared ones");
  return function;
}

std::vector<edge> call(graph& in, const defined_function& function,
                       const std::vector<edge>& arguments, std::string_view name,
                       std::source_location where) {
  if (function.value.name.empty())
    reject("call", where, "there is no function to call");
  auto inputs = arguments;
  inputs.insert(inputs.end(), function.captured.begin(), function.captured.end());
  auto has_effects = !function.value.body || function.value.body->has_effects();
  auto* call_node = value_or_throw(
      in.innermost().add({.op = has_effects ? "StatefulPartitionedCall" : "PartitionedCall",
                          .name = std::string{name},
                          .inputs = std::move(inputs),
                          .attrs = {{"f", function.value},
                                    {"Tout", function.results},
                                    {"_noinline", function.noinline}},
                          .where = where}));
  return detail::outputs(*call_node, 0, 0);
}

} // namespace troupe
