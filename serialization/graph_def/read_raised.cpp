#include "troupe/serialization/graph_def/read_raised.hpp"

#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/input_name.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace troupe::graph_def {
namespace {

// A function on its way; an edge to nothing stands for what is dead.
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

// An argument for state that a result is.
bool hands_on_state(edge result) {
  if (!result.node->output_is_ref(result.index) || has(result.node->op().effects, effect::stateful))
    return false;
  const auto* state = resource_behind(result);
  return state && is_argument(*state);
}

// The argument itself, where it was handed through updates.
edge state_of(edge what) {
  const auto* state = what.node->output_is_ref(what.index) ? resource_behind(what) : nullptr;
  auto* own = state ? what.node->graph().find(state->name()) : nullptr;
  return own && is_argument(*own) ? own->output(0) : what;
}

result<edge> value_of(function_body& in, edge what) {
  TROUPE_ASSIGN(auto* made, in.add({.op = "Identity", .inputs = {what}}));
  return made->output(0);
}

// Nobody looks at it.
result<edge> anything(function_body& in, dtype type, const partial_shape& dims) {
  if (type == dtype::variant) {
    TROUPE_ASSIGN(auto* none, in.add({.op = "OptionalNone"}));
    return none->output(0);
  }
  constexpr int64_t most = 1024;
  shape small{0};
  if (dims.has_rank()) {
    std::vector<int64_t> extents;
    for (int axis = 0; axis < dims.rank(); ++axis)
      extents.push_back(std::max<int64_t>(dims[axis], 0));
    auto made = shape::make(extents);
    if (made && made->elements() > most) {
      extents[0] = 0;
      made = shape::make(extents);
    }
    if (made)
      small = *made;
  }
  TROUPE_ASSIGN(auto zeros, tensor::make(type, small));
  if (type != dtype::string && zeros.bytes() > 0)
    std::memset(zeros.raw(), 0, zeros.bytes());
  TROUPE_ASSIGN(auto* made, in.add({.op = "Const", .attrs = {{"dtype", type}, {"value", zeros}}}));
  return made->output(0);
}

class function_reader {
public:
  function_reader(node_spec& spec, const raised_node& from, graph& into,
                  const function_source& with, const outer_names& names)
      : spec_(spec), from_(from), into_(into), with_(with), names_(names) {}

  status run() { return from_.is_loop ? loop() : branch(); }

private:
  // Takes the edges that functions beside it have captured as arguments first.
  result<built_function> build(const raised_part& part, const std::vector<argument>& arguments,
                               const std::vector<edge>& captured) {
    if (!with_.left || *with_.left == 0)
      return failure(error_kind::resource_exhausted,
                     "branches and loops within others run more than ", max_functions,
                     " functions");
    --*with_.left;
    built_function made{std::make_unique<function_body>(into_), {}};
    auto& body = *made.body;
    std::map<std::string, edge> given;
    for (size_t i = 0; i < arguments.size(); ++i) {
      TROUPE_ASSIGN(given[part.arguments[i]], add_argument(body, arguments[i]));
    }
    for (const auto& one : captured)
      TROUPE_TRY(body.capture(one).status());
    TROUPE_ASSIGN(auto passed, add_nodes(part.nodes, body, with_, given, names_));
    std::set<std::string_view> own;
    for (const auto& each : part.nodes.node())
      own.insert(each.name());
    for (const auto& text : part.results) {
      if (text.empty()) {
        made.results.push_back({});
        continue;
      }
      TROUPE_ASSIGN(auto name, input_name::parse(text));
      auto at = passed.find(std::string{name.node});
      auto found = !own.contains(name.node) ? names_(text)
                   : at != passed.end()     ? result<edge>{at->second.of}
                                            : body.find_edge(text);
      if (!found)
        return found.status();
      TROUPE_ASSIGN(auto here, body.own(*found));
      made.results.push_back(here);
    }
    TROUPE_TRY(body.take_note());
    body.leave();
    return made;
  }

  static result<edge> add_argument(function_body& to, const argument& one) {
    if (one.is_state) {
      const auto* state = resource_behind(one.initial);
      return to.add_state_argument(state->op().makes, state->output_type(0),
                                   state->output_shape(0));
    }
    auto made = to.add_argument(one.initial.type(), one.dims);
    TROUPE_TRY(to.take_note());
    return made;
  }

  static status capture_rest(built_function& what, const std::vector<edge>& all) {
    for (size_t i = what.body->captured().size(); i < all.size(); ++i)
      TROUPE_TRY(what.body->capture(all[i]).status());
    return {};
  }

  result<function_value> finish(built_function&& what, std::string_view name) {
    auto whole = concat(spec_.name, '_', name);
    std::ranges::replace(whole, '/', '_');
    TROUPE_ASSIGN(auto made, function_body::finish(std::move(what.body), whole, what.results));
    return function_value{std::move(whole), std::move(made)};
  }

  void wait_for(const built_function& what) {
    for (auto* each : what.body->after())
      if (std::ranges::find(spec_.controls, each) == spec_.controls.end())
        spec_.controls.push_back(each);
  }

  status branch() {
    auto predicate = spec_.inputs[0];
    TROUPE_ASSIGN(auto taken, build(from_.parts[0], {}, {}));
    TROUPE_ASSIGN(auto other, build(from_.parts[1], {}, taken.body->captured()));
    const auto captured = other.body->captured();
    TROUPE_TRY(capture_rest(taken, captured));
    for (size_t i = 0; i < taken.results.size(); ++i) {
      auto &a = taken.results[i], &b = other.results[i];
      if (!a && !b)
        return failure(error_kind::internal, "result ", i, " is never there");
      if (!a || !b) {
        auto like = a ? a : b;
        auto& dead = a ? b : a;
        TROUPE_ASSIGN(dead, anything(a ? *other.body : *taken.body, like.type(), like.dims()));
      }
      if (i < from_.keeps_ref.size() && from_.keeps_ref[i])
        for (auto* each : {&a, &b})
          *each = state_of(*each);
      auto index_of = [](edge what) {
        return hands_on_state(what) ? resource_behind(what)->attr<int64_t>("index") : -1;
      };
      if (index_of(a) == index_of(b))
        continue;
      if (hands_on_state(a)) {
        TROUPE_ASSIGN(a, value_of(*taken.body, a));
      }
      if (hands_on_state(b)) {
        TROUPE_ASSIGN(b, value_of(*other.body, b));
      }
    }
    wait_for(taken);
    wait_for(other);
    TROUPE_ASSIGN(auto then, finish(std::move(taken), "true"));
    TROUPE_ASSIGN(auto otherwise, finish(std::move(other), "false"));
    spec_.op = then.body->has_effects() || otherwise.body->has_effects() ? "If" : "StatelessIf";
    spec_.inputs = {predicate};
    spec_.inputs.insert(spec_.inputs.end(), captured.begin(), captured.end());
    spec_.attrs["then_branch"] = std::move(then);
    spec_.attrs["else_branch"] = std::move(otherwise);
    return {};
  }

  status loop() {
    std::vector<argument> variables;
    for (size_t k = 0; k < from_.variables; ++k) {
      const auto& initial = spec_.inputs[k];
      const auto* state =
          initial.node->output_is_ref(initial.index) ? resource_behind(initial) : nullptr;
      auto is_handle =
          state && (state->op().outputs[0].handle || state->op().makes != resource::variable);
      variables.push_back({initial, initial.dims(), state && (is_handle || from_.keeps_ref[k])});
    }
    // Shapes that the body does not keep are left open, which may open others.
    for (bool open = false;;) {
      auto read = turn(variables);
      if (read && *read)
        return {};
      if (!read && open)
        return read.status();
      if (!read) // perhaps for a shape that only the first turn has
        for (auto& one : variables)
          one.dims = partial_shape::unknown();
      open = open || !read;
    }
  }

  // Reads both functions. False: some shapes have been left open.
  result<bool> turn(std::vector<argument>& variables) {
    TROUPE_ASSIGN(auto test, build(from_.parts[0], variables, {}));
    TROUPE_ASSIGN(auto next, build(from_.parts[1], variables, test.body->captured()));
    auto kept = true;
    for (size_t k = 0; k < variables.size(); ++k) {
      auto& one = variables[k];
      auto& now = next.results[k];
      if (one.is_state)
        continue;
      if (hands_on_state(now)) {
        TROUPE_ASSIGN(now, value_of(*next.body, now));
      }
      auto both = widened(one.dims, now.dims());
      if (both == one.dims)
        continue;
      one.dims = both;
      kept = false;
    }
    if (!kept)
      return false;
    const auto captured = next.body->captured();
    TROUPE_TRY(capture_rest(test, captured));
    wait_for(test);
    wait_for(next);
    for (size_t i = 0; i < captured.size(); ++i)
      next.results.push_back(next.body->argument(variables.size() + i));
    TROUPE_ASSIGN(auto condition, finish(std::move(test), "condition"));
    TROUPE_ASSIGN(auto body, finish(std::move(next), "body"));
    spec_.op =
        condition.body->has_effects() || body.body->has_effects() ? "While" : "StatelessWhile";
    spec_.inputs.clear();
    for (const auto& one : variables)
      spec_.inputs.push_back(one.initial);
    spec_.inputs.insert(spec_.inputs.end(), captured.begin(), captured.end());
    spec_.attrs["cond"] = std::move(condition);
    spec_.attrs["body"] = std::move(body);
    return true;
  }

  node_spec& spec_;
  const raised_node& from_;
  graph& into_;
  const function_source& with_;
  const outer_names& names_;
};

} // namespace

status add_functions(node_spec& spec, const raised_node& from, graph& into,
                     const function_source& with, const outer_names& names) {
  if (spec.inputs.size() < (from.is_loop ? from.variables : 1))
    return failure(error_kind::internal, "has ", spec.inputs.size(), " inputs");
  return function_reader{spec, from, into, with, names}.run();
}

} // namespace troupe::graph_def
