#include "troupe/serialization/graph_def/read_raised.hpp"

#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace troupe::graph_def {
namespace {

// A function before it is finished. A null edge is a dead result.
struct built_function {
  std::unique_ptr<function_body> body;
  std::vector<edge> results;
};

// A variable of a loop.
struct argument {
  edge initial;
  partial_shape dims;
  bool is_state = false;
};

// Whether a result is an argument for state.
bool hands_on_state(edge result) {
  if (!result.node->output_is_ref(result.index) || has(result.node->op().effects, effect::stateful))
    return false;
  const auto* state = resource_behind(result);
  return state && is_argument(*state);
}

// The argument itself, if a result is that argument after updates.
edge state_of(edge result_edge) {
  const auto* state =
      result_edge.node->output_is_ref(result_edge.index) ? resource_behind(result_edge) : nullptr;
  auto* argument_node = state ? result_edge.node->graph().find(state->name()) : nullptr;
  return argument_node && is_argument(*argument_node) ? argument_node->output(0) : result_edge;
}

result<edge> value_of(function_body& body, edge value) {
  TROUPE_ASSIGN(auto* copied, body.add({.op = "Identity", .inputs = {value}}));
  return copied->output(0);
}

// Makes a value that is never read.
result<edge> make_unused_value(function_body& body, dtype type, const partial_shape& dims) {
  if (type == dtype::variant) {
    TROUPE_ASSIGN(auto* none, body.add({.op = "OptionalNone"}));
    return none->output(0);
  }
  constexpr int64_t max_elements = 1024;
  shape filler_shape{0};
  if (dims.has_rank()) {
    std::vector<int64_t> extents;
    for (int axis = 0; axis < dims.rank(); ++axis)
      extents.push_back(std::max<int64_t>(dims[axis], 0));
    auto same_shape = shape::make(extents);
    if (same_shape && same_shape->elements() > max_elements) {
      extents[0] = 0;
      same_shape = shape::make(extents);
    }
    if (same_shape)
      filler_shape = *same_shape;
  }
  TROUPE_ASSIGN(auto zeros, tensor::make(type, filler_shape));
  if (type != dtype::string && zeros.bytes() > 0)
    std::memset(zeros.raw(), 0, zeros.bytes());
  TROUPE_ASSIGN(auto* filler,
                body.add({.op = "Const", .attrs = {{"dtype", type}, {"value", zeros}}}));
  return filler->output(0);
}

class function_reader {
public:
  function_reader(node_spec& spec, const raised_node& from, graph& target,
                  const function_source& source, const outer_names& names)
      : spec_(spec), from_(from), target_(target), source_(source), names_(names) {}

  status run() { return from_.is_loop ? read_loop() : read_branch(); }

private:
  // Builds a function. The edges that sibling functions captured become its first captures.
  result<built_function> build(const raised_part& part, const std::vector<argument>& arguments,
                               const std::vector<edge>& captured) {
    if (!source_.left || *source_.left == 0)
      return failure(error_kind::resource_exhausted,
                     "branches and loops within others run more than ", max_functions,
                     " functions");
    --*source_.left;
    built_function built{std::make_unique<function_body>(target_), {}};
    auto& body = *built.body;
    std::map<std::string, edge> given;
    for (size_t i = 0; i < arguments.size(); ++i) {
      TROUPE_ASSIGN(given[part.arguments[i]], add_argument(body, arguments[i]));
    }
    for (const auto& captured_edge : captured)
      TROUPE_TRY(body.capture(captured_edge).status());
    TROUPE_ASSIGN(auto passed, add_nodes(part.nodes, body, source_, given, names_));
    std::set<std::string_view> part_names;
    for (const auto& node_def : part.nodes.node())
      part_names.insert(node_def.name());
    for (const auto& text : part.results) {
      if (text.empty()) {
        built.results.push_back({});
        continue;
      }
      TROUPE_ASSIGN(auto name, input_name::parse(text));
      auto handle = passed.find(std::string{name.node});
      auto result_edge = !part_names.contains(name.node) ? names_(text)
                         : handle != passed.end()        ? result<edge>{handle->second.target}
                                                         : body.find_edge(text);
      if (!result_edge)
        return result_edge.status();
      TROUPE_ASSIGN(auto inner, body.localize(*result_edge));
      built.results.push_back(inner);
    }
    TROUPE_TRY(body.take_error());
    body.leave();
    return built;
  }

  static result<edge> add_argument(function_body& body, const argument& variable) {
    if (variable.is_state) {
      const auto* state = resource_behind(variable.initial);
      return body.add_state_argument(state->op().state_kind, state->output_type(0),
                                     state->output_shape(0));
    }
    auto added = body.add_argument(variable.initial.type(), variable.dims);
    TROUPE_TRY(body.take_error());
    return added;
  }

  static status capture_remaining(built_function& function, const std::vector<edge>& captured) {
    for (size_t i = function.body->captured().size(); i < captured.size(); ++i)
      TROUPE_TRY(function.body->capture(captured[i]).status());
    return {};
  }

  result<function_value> finish(built_function&& function, std::string_view name) {
    auto full_name = concat(spec_.name, '_', name);
    std::ranges::replace(full_name, '/', '_');
    TROUPE_ASSIGN(auto finished,
                  function_body::finish(std::move(function.body), full_name, function.results));
    return function_value{std::move(full_name), std::move(finished)};
  }

  void wait_for(const built_function& function) {
    for (auto* waited : function.body->predecessors())
      if (std::ranges::find(spec_.controls, waited) == spec_.controls.end())
        spec_.controls.push_back(waited);
  }

  status read_branch() {
    auto predicate = spec_.inputs[0];
    TROUPE_ASSIGN(auto on_true, build(from_.parts[0], {}, {}));
    TROUPE_ASSIGN(auto on_false, build(from_.parts[1], {}, on_true.body->captured()));
    const auto captured = on_false.body->captured();
    TROUPE_TRY(capture_remaining(on_true, captured));
    for (size_t i = 0; i < on_true.results.size(); ++i) {
      auto &true_result = on_true.results[i], &false_result = on_false.results[i];
      if (!true_result && !false_result)
        return failure(error_kind::internal, "result ", i, " never exists");
      if (!true_result || !false_result) {
        auto existing = true_result ? true_result : false_result;
        auto& missing = true_result ? false_result : true_result;
        TROUPE_ASSIGN(missing, make_unused_value(true_result ? *on_false.body : *on_true.body,
                                                 existing.type(), existing.dims()));
      }
      if (i < from_.keeps_ref.size() && from_.keeps_ref[i])
        for (auto* result : {&true_result, &false_result})
          *result = state_of(*result);
      auto index_of = [](edge result) {
        return hands_on_state(result) ? resource_behind(result)->attr<int64_t>("index") : -1;
      };
      if (index_of(true_result) == index_of(false_result))
        continue;
      if (hands_on_state(true_result)) {
        TROUPE_ASSIGN(true_result, value_of(*on_true.body, true_result));
      }
      if (hands_on_state(false_result)) {
        TROUPE_ASSIGN(false_result, value_of(*on_false.body, false_result));
      }
    }
    wait_for(on_true);
    wait_for(on_false);
    TROUPE_ASSIGN(auto then, finish(std::move(on_true), "true"));
    TROUPE_ASSIGN(auto otherwise, finish(std::move(on_false), "false"));
    spec_.op = then.body->has_effects() || otherwise.body->has_effects() ? "If" : "StatelessIf";
    spec_.inputs = {predicate};
    spec_.inputs.insert(spec_.inputs.end(), captured.begin(), captured.end());
    spec_.attrs["then_branch"] = std::move(then);
    spec_.attrs["else_branch"] = std::move(otherwise);
    return {};
  }

  status read_loop() {
    std::vector<argument> variables;
    for (size_t k = 0; k < from_.variables; ++k) {
      const auto& initial = spec_.inputs[k];
      const auto* state =
          initial.node->output_is_ref(initial.index) ? resource_behind(initial) : nullptr;
      auto is_handle =
          state && (state->op().outputs[0].handle || state->op().state_kind != resource::variable);
      variables.push_back({initial, initial.dims(), state && (is_handle || from_.keeps_ref[k])});
    }
    // Shapes that the body does not keep become unknown, which may make others unknown.
    for (bool is_open = false;;) {
      auto outcome = read_functions(variables);
      if (outcome && *outcome)
        return {};
      if (!outcome && is_open)
        return outcome.status();
      if (!outcome) // perhaps for a shape that only the first iteration has
        for (auto& variable : variables)
          variable.dims = partial_shape::unknown();
      is_open = is_open || !outcome;
    }
  }

  // Reads both functions. Returns false if some shapes became unknown.
  result<bool> read_functions(std::vector<argument>& variables) {
    TROUPE_ASSIGN(auto test, build(from_.parts[0], variables, {}));
    TROUPE_ASSIGN(auto next, build(from_.parts[1], variables, test.body->captured()));
    auto is_stable = true;
    for (size_t k = 0; k < variables.size(); ++k) {
      auto& variable = variables[k];
      auto& next_value = next.results[k];
      if (variable.is_state)
        continue;
      if (hands_on_state(next_value)) {
        TROUPE_ASSIGN(next_value, value_of(*next.body, next_value));
      }
      auto common = join_shapes(variable.dims, next_value.dims());
      if (common == variable.dims)
        continue;
      variable.dims = common;
      is_stable = false;
    }
    if (!is_stable)
      return false;
    const auto captured = next.body->captured();
    TROUPE_TRY(capture_remaining(test, captured));
    wait_for(test);
    wait_for(next);
    for (size_t i = 0; i < captured.size(); ++i)
      next.results.push_back(next.body->argument(variables.size() + i));
    TROUPE_ASSIGN(auto condition, finish(std::move(test), "condition"));
    TROUPE_ASSIGN(auto body, finish(std::move(next), "body"));
    spec_.op =
        condition.body->has_effects() || body.body->has_effects() ? "While" : "StatelessWhile";
    spec_.inputs.clear();
    for (const auto& variable : variables)
      spec_.inputs.push_back(variable.initial);
    spec_.inputs.insert(spec_.inputs.end(), captured.begin(), captured.end());
    spec_.attrs["cond"] = std::move(condition);
    spec_.attrs["body"] = std::move(body);
    return true;
  }

  node_spec& spec_;
  const raised_node& from_;
  graph& target_;
  const function_source& source_;
  const outer_names& names_;
};

} // namespace

status add_functions(node_spec& spec, const raised_node& from, graph& target,
                     const function_source& source, const outer_names& names) {
  if (spec.inputs.size() < (from.is_loop ? from.variables : 1))
    return failure(error_kind::internal, "has ", spec.inputs.size(), " inputs");
  return function_reader{spec, from, target, source, names}.run();
}

} // namespace troupe::graph_def
