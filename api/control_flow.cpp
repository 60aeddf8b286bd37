#include "troupe/api/control_flow.hpp"

#include "troupe/api/error.hpp"
#include "troupe/api/internal/reject.hpp"
#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/functions/nest.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"

#include <algorithm>

namespace troupe {
namespace {

using builder = std::function<std::vector<edge>(const std::vector<edge>&)>;
using gradient_builder =
    std::function<std::vector<edge>(const std::vector<edge>&, const std::vector<edge>&)>;

// Takes the edges that functions beside it have captured as arguments first, so that all take the
// same.
built_function build(graph& in, const std::vector<argument>& arguments,
                     const std::vector<edge>& captured, const builder& user, std::string_view what,
                     std::source_location where,
                     size_t copied_constant = function_body::small_constant) {
  built_function made{std::make_unique<function_body>(in, copied_constant), {}};
  std::vector<edge> own;
  for (const auto& one : arguments) {
    const auto* state = one.like.node && one.like.node->output_is_ref(one.like.index)
                            ? resource_behind(one.like)
                            : nullptr;
    own.push_back(state ? value_or_throw(made.body->add_state_argument(
                              state->op().makes, state->output_type(0), state->output_shape(0)))
                        : made.body->add_argument(one.type, one.dims));
    throw_if_failed(made.body->take_note());
  }
  for (const auto& one : captured)
    value_or_throw(made.body->capture(one));
  auto given = user(own);
  for (const auto& one : given) {
    if (one.is_nothing())
      reject(what, where, "a function returns an edge to nothing");
    made.results.push_back(value_or_throw(made.body->own(one)));
  }
  made.body->leave();
  return made;
}

function_value finish(built_function&& what, std::string name, own_gradient gradient = {}) {
  auto made = function_body::finish(std::move(what.body), name, what.results, std::move(gradient));
  return {std::move(name), value_or_throw(std::move(made))};
}

defined_function described(function_value what, std::vector<edge> captured) {
  defined_function made{std::move(what), std::move(captured), {}};
  for (size_t i = 0; i < made.value.body->results(); ++i)
    made.results.push_back(made.value.body->result_type(i));
  return made;
}

} // namespace

namespace detail {

void throw_empty_branch(std::source_location where) {
  reject("cond", where, "a branch is an empty function");
}

node& add_branches(edge which, bool by_number, const std::vector<branch_builder>& branches,
                   std::string_view name, std::source_location where) {
  if (which.is_nothing() || branches.empty())
    reject(by_number ? "case_of" : "cond", where,
           "needs an edge that chooses, and something to choose from");
  const auto* what = by_number ? "case_of" : "cond";
  auto& in = which.node->graph().innermost();
  std::vector<built_function> made;
  std::vector<edge> captured;
  for (const auto& each : branches)
    need_function(what, where, each, "a branch");
  for (const auto& each : branches) {
    made.push_back(build(
        in, {}, captured, [&](auto&) { return each(); }, what, where));
    captured = made.back().body->captured();
  }
  node_spec spec{.op = {}, .name = std::string{name}, .inputs = {which}, .where = where};
  if (auto done = complete_branches(spec, std::move(made), by_number); !done)
    throw error{std::move(done).within(concat(what, " (", to_string(where), ')'))};
  auto& chosen = *value_or_throw(in.add(std::move(spec)));
  choose_transfer(chosen);
  return chosen;
}

} // namespace detail

std::vector<edge> case_of(edge number, const std::vector<detail::branch_builder>& branches,
                          std::string_view name, std::source_location where) {
  auto& made = detail::add_branches(number, true, branches, name, where);
  return detail::outputs(made, 0, 0);
}

std::vector<edge> while_loop(const std::vector<edge>& initial,
                             const std::function<edge(const std::vector<edge>&)>& condition,
                             const builder& body, const while_options& options,
                             std::source_location where) {
  if (initial.empty() || std::ranges::any_of(initial, &edge::is_nothing))
    reject("while_loop", where, "a loop needs loop variables that are edges to something");
  need_function("while_loop", where, condition, "the condition");
  need_function("while_loop", where, body, "the body");
  if (!options.shapes.empty() && options.shapes.size() != initial.size())
    reject("while_loop", where, "got ", options.shapes.size(), " shapes for ", initial.size(),
           " loop variables");
  auto& in = initial.front().node->graph().innermost();
  std::vector<argument> variables(initial.begin(), initial.end());
  for (size_t i = 0; i < options.shapes.size(); ++i)
    variables[i].dims = options.shapes[i];
  for (auto& one : variables) // what enters is a value, though it be read from a variable
    one.like = {};
  // Shapes that the body does not keep are left open, which may open others.
  for (;;) {
    auto test = build(
        in, variables, {}, [&](auto& v) { return std::vector{condition(v)}; }, "while_loop", where);
    auto turn = build(in, variables, test.body->captured(), body, "while_loop", where);
    if (turn.results.size() != variables.size())
      reject("while_loop", where, "the body returns ", turn.results.size(), " values for ",
             variables.size(), " loop variables");
    auto kept = true;
    for (size_t i = 0; i < variables.size(); ++i) {
      const auto& now = turn.results[i];
      if (now.type() != variables[i].type)
        reject("while_loop", where, "loop variable ", i, " is ", variables[i].type,
               ", and the body returns ", now.type());
      auto both = widened(variables[i].dims, now.dims());
      if (both == variables[i].dims)
        continue;
      if (!options.shapes.empty())
        reject("while_loop", where, "loop variable ", i, " has shape ", variables[i].dims,
               ", as the options say, and the body returns ", now.dims());
      variables[i].dims = both;
      kept = false;
    }
    if (!kept)
      continue;
    node_spec spec{.op = {},
                   .name = std::string{options.name},
                   .inputs = initial,
                   .attrs = {{"parallel_iterations", options.parallel_iterations},
                             {"_recompute", options.recompute},
                             {"_swap_memory", options.swap_memory}},
                   .where = where};
    throw_if_failed(complete_loop(spec, std::move(test), std::move(turn)));
    auto* made = value_or_throw(in.add(std::move(spec)));
    detail::choose_transfer(*made);
    std::vector<edge> found;
    for (size_t i = 0; i < initial.size(); ++i)
      found.push_back(made->output(static_cast<int>(i)));
    return found;
  }
}

defined_function define(graph& in, std::string_view name, const std::vector<argument>& arguments,
                        const builder& user, std::source_location where) {
  need_function("define", where, user, "what builds the function");
  auto made = build(in.innermost(), arguments, {}, user, "define", where);
  auto captured = made.body->captured();
  return described(finish(std::move(made), std::string{name}), std::move(captured));
}

defined_function define(graph& in, std::string_view name, const std::vector<argument>& arguments,
                        const builder& user, const gradient_builder& gradient,
                        std::source_location where) {
  need_function("define", where, user, "what builds the function");
  need_function("define", where, gradient, "the gradient");
  for (size_t i = 0; i < arguments.size(); ++i)
    if (const auto& like = arguments[i].like; like.node && like.node->output_is_ref(like.index))
      reject("define", where, "function '", name, "' has a gradient of its own, and argument ", i,
             " is a variable or table: let it take the value");
  auto alone = [&](const built_function& what) {
    if (!what.body->captured().empty())
      reject("define", where, "function '", name, "' has a gradient of its own, and takes '",
             what.body->captured().front(), "' from outside: make it an argument");
  };
  auto made = build(in.innermost(), arguments, {}, user, "define", where, SIZE_MAX);
  alone(made);
  auto takes = arguments;
  for (const auto& one : made.results)
    if (carries_gradients(one.type()))
      takes.emplace_back(one.type(), one.dims());
  own_gradient own;
  auto given = [&](const std::vector<edge>& all) {
    auto middle = all.begin() + static_cast<std::ptrdiff_t>(arguments.size());
    auto found = gradient({all.begin(), middle}, {middle, all.end()});
    if (found.size() != arguments.size())
      reject("define", where, "the gradient of function '", name, "' returns ", found.size(),
             " edges for ", arguments.size(), " arguments");
    for (size_t i = 0; i < found.size(); ++i)
      if (found[i])
        own.to.push_back(i);
    for (auto i : own.to) {
      if (found[i].type() != arguments[i].type || !carries_gradients(found[i].type()))
        reject("define", where, "the gradient of function '", name, "' returns ", found[i].type(),
               " for argument ", i, ", which is ", arguments[i].type,
               carries_gradients(arguments[i].type) ? "" : " and has none: return edge{}");
      if (!found[i].dims().compatible(arguments[i].dims))
        reject("define", where, "the gradient of function '", name, "' for argument ", i,
               " has shape ", found[i].dims(), ", and the argument has ", arguments[i].dims);
    }
    std::erase_if(found, [](const edge& each) { return each.is_nothing(); });
    return found;
  };
  auto back = build(in.innermost(), takes, {}, given, "define", where, SIZE_MAX);
  alone(back);
  own.by = finish(std::move(back), concat(name, "_gradient")).body;
  return described(finish(std::move(made), std::string{name}, std::move(own)), {});
}

defined_function define_recursive(
    graph& in, std::string_view name, const std::vector<argument>& arguments,
    const std::vector<dtype>& results,
    const std::function<std::vector<edge>(const defined_function&, const std::vector<edge>&)>& user,
    std::source_location where) {
  need_function("define_recursive", where, user, "what builds the function");
  defined_function self{{std::string{name}, {}}, {}, results};
  auto found = define(
      in, name, arguments, [&](const std::vector<edge>& v) { return user(self, v); }, where);
  if (!found.captured.empty())
    reject("define_recursive", where, "function '", name, "' calls itself and takes '",
           found.captured.front(), "' from outside: make it an argument");
  if (found.results != results)
    reject("define_recursive", where, "function '", name,
           "' returns other types than it was said to");
  return found;
}

std::vector<edge> call(graph& in, const defined_function& what, const std::vector<edge>& arguments,
                       std::string_view name, std::source_location where) {
  if (what.value.name.empty())
    reject("call", where, "there is no function to call");
  auto inputs = arguments;
  inputs.insert(inputs.end(), what.captured.begin(), what.captured.end());
  auto has_effects = !what.value.body || what.value.body->has_effects();
  auto* made = value_or_throw(in.innermost().add(
      {.op = has_effects ? "StatefulPartitionedCall" : "PartitionedCall",
       .name = std::string{name},
       .inputs = std::move(inputs),
       .attrs = {{"f", what.value}, {"Tout", what.results}, {"_noinline", what.noinline}},
       .where = where}));
  return detail::outputs(*made, 0, 0);
}

} // namespace troupe
