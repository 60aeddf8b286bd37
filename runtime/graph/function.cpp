#include "troupe/runtime/graph/function.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>

namespace troupe {
bool is_argument(const node& candidate) noexcept {
  return &candidate.op() == &internal_ops::feed ||
         (candidate.op().state_kind != resource::none &&
          internal_ops::state_argument(candidate.op().state_kind) == &candidate.op());
}

bool has_effects_in_function(const node& candidate) {
  if (&candidate.op() == &internal_ops::fetch)
    return false;
  if (has(candidate.op().effects, effect::stateful | effect::random | effect::blocking))
    return true;
  for (int i = 0; i < static_cast<int>(candidate.inputs().size()); ++i)
    if (candidate.input_is_ref(i) && !runs_functions(candidate.op()))
      return true;
  return std::ranges::any_of(functions_of(candidate), [](const function_value* value) {
    return !value->body || value->body->has_effects();
  });
}

result<std::shared_ptr<const function>> function::make(std::string name,
                                                       std::unique_ptr<graph> body,
                                                       const std::vector<edge>& results,
                                                       custom_gradient gradient) {
  std::vector<int> passed_through;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& source = results[i];
    if (!source || &source.node->graph() != body.get())
      return invalid("function '", name, "': result ", i, " is ",
                     source ? source.node->description() : std::string{"nothing"},
                     ", which is not a node of its body");
    passed_through.push_back(-1);
    if (is_argument(*source.node)) {
      passed_through.back() = static_cast<int>(source.node->attr<int64_t>("index"));
      continue;
    }
    // The output of an update is the value after the update, so it is not passed through.
    if (auto* state = source.node->output_is_ref(source.index) ? resource_behind(source) : nullptr;
        state && is_argument(*state) && !has(source.node->op().effects, effect::stateful)) {
      passed_through.back() = static_cast<int>(state->attr<int64_t>("index"));
      continue;
    }
    TROUPE_TRY(body->add({.op = "_Fetch",
                          .name = concat("_result_", i),
                          .inputs = {source},
                          .attrs = {{"index", i}},
                          .where = source.node->where()}));
  }
  return make(std::move(name), std::move(body), std::move(passed_through), std::move(gradient));
}

result<std::shared_ptr<const function>> function::make(std::string name,
                                                       std::unique_ptr<graph> body,
                                                       std::vector<int> passed_through,
                                                       custom_gradient gradient) {
  std::shared_ptr<function> created{new function};
  created->name_ = std::move(name);
  created->body_ = std::move(body);
  created->passed_through_ = std::move(passed_through);
  created->gradient_ = std::move(gradient);
  TROUPE_TRY(created->collect_arguments().with_context(concat("function '", created->name_, "'")));
  TROUPE_TRY(created->collect_results().with_context(concat("function '", created->name_, "'")));
  created->collect_run_nodes();
  return std::shared_ptr<const function>{std::move(created)};
}

status function::collect_arguments() {
  for (const auto& body_node : body_->nodes()) {
    if (!is_argument(*body_node)) {
      if (outlives_steps(body_node->op()))
        return invalid(body_node->description(), ": a ", to_string(body_node->op().state_kind),
                       " outlives a call: create it outside of the function and use it inside");
      continue;
    }
    auto position = static_cast<size_t>(body_node->attr<int64_t>("index"));
    if (position >= body_->nodes().size())
      return invalid(body_node->description(), ": its index ", position, " is too large");
    arguments_.resize(std::max(arguments_.size(), position + 1));
    if (arguments_[position])
      return invalid(body_node->description(), ": is argument ", position, " as is ",
                     arguments_[position]->description());
    arguments_[position] = body_node.get();
  }
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (!arguments_[i])
      return invalid("argument ", i, " of ", arguments_.size(), " is missing");
  return {};
}

status function::collect_results() {
  computed_.resize(passed_through_.size());
  for (const auto& body_node : body_->nodes()) {
    if (&body_node->op() != &internal_ops::fetch)
      continue;
    auto position = static_cast<size_t>(body_node->attr<int64_t>("index"));
    if (position >= computed_.size() || computed_[position] || passed_through_[position] >= 0)
      return invalid(body_node->description(), ": there is no computed result ", position);
    computed_[position] = body_node.get();
  }
  for (size_t i = 0; i < passed_through_.size(); ++i)
    if (!computed_[i] &&
        (passed_through_[i] < 0 || static_cast<size_t>(passed_through_[i]) >= arguments_.size()))
      return invalid("result ", i, " is missing");
  return {};
}

void function::collect_run_nodes() {
  runs_.assign(body_->nodes().size(), false);
  std::vector<const node*> pending;
  auto add = [&](const node& visited) {
    if (!runs_[visited.index()])
      pending.push_back(&visited);
    runs_[visited.index()] = true;
  };
  for (const auto& body_node : body_->nodes()) {
    auto has_effect = has_effects_in_function(*body_node);
    has_effects_ = has_effects_ || has_effect;
    if (has_effect || is_argument(*body_node) || &body_node->op() == &internal_ops::fetch)
      add(*body_node);
  }
  while (!pending.empty()) {
    const auto& visited = *pending.back();
    pending.pop_back();
    for (const auto& input : visited.inputs())
      add(*input.node);
    for (const auto* before : visited.controls())
      add(*before);
  }
}

dtype function::result_type(size_t i) const {
  return computed_[checked_place(i, "result", computed_.size())]
             ? computed_[i]->inputs()[0].type()
             : arguments_[static_cast<size_t>(passed_through_[i])]->output_type(0);
}

const partial_shape& function::result_dims(size_t i) const {
  return computed_[checked_place(i, "result", computed_.size())]
             ? computed_[i]->inputs()[0].dims()
             : arguments_[static_cast<size_t>(passed_through_[i])]->output_shape(0);
}

bool function::result_is_ref(size_t i) const {
  return !computed_[checked_place(i, "result", computed_.size())] &&
         argument_is_ref(static_cast<size_t>(passed_through_[i]));
}

bool calls_itself(const graph& body, std::string_view name) {
  return std::ranges::any_of(body.nodes(), [&](const auto& caller) {
    return std::ranges::any_of(functions_of(*caller), [&](const function_value* value) {
      if (!value->body)
        return value->name == name;
      const auto& gradient_function = value->body->gradient().backward;
      return value->name != name &&
             (calls_itself(value->body->body(), name) ||
              (gradient_function && calls_itself(gradient_function->body(), name)));
    });
  });
}

partial_shape join_shapes(const partial_shape& a, const partial_shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank())
    return partial_shape::unknown();
  auto joined = a;
  for (int axis = 0; axis < a.rank(); ++axis)
    if (a[axis] != b[axis])
      joined.set(axis, unknown_extent);
  return joined;
}

// -- nodes that run functions ---------------------------------------------------------------------

std::vector<const function_value*> functions_of(const op_def& op, const attr_map& attrs) {
  std::vector<const function_value*> functions;
  for (const auto& declared : op.attrs) {
    auto found_attr = attrs.find(declared.name);
    if (found_attr == attrs.end())
      continue;
    if (const auto* value = found_attr->second.get_if<function_value>())
      functions.push_back(value);
    else if (const auto* values = found_attr->second.get_if<std::vector<function_value>>())
      for (const auto& item : *values)
        functions.push_back(&item);
  }
  return functions;
}

std::vector<const function_value*> functions_of(const node& caller) {
  if (!runs_functions(caller.op()))
    return {};
  return functions_of(caller.op(), caller.attrs());
}

const port ref_argument = ref("input", {}, resource::none);

bool call_input_is_ref(const op_def& op, const attr_map& attrs, size_t argument, edge source) {
  if (!source.node->output_is_ref(source.index))
    return false;
  for (const auto* value : functions_of(op, attrs))
    if (value->body)
      return argument < value->body->arguments() && value->body->argument_is_ref(argument);
  return true; // a recursive call takes what its caller was given
}

bool call_output_is_ref(const op_def& op, const attr_map& attrs, size_t output) {
  if (passed_through(op, attrs, output) < 0)
    return false;
  for (const auto* value : functions_of(op, attrs))
    if (value->body && output < value->body->results() && value->body->passed_through(output) >= 0)
      return value->body->result_is_ref(output);
  return false;
}

int first_argument(const op_def& op) noexcept {
  int position = 0;
  for (const auto& input_port : op.inputs) {
    auto* attr = op.find_attr(input_port.type);
    if (attr && attr->kind == attr_kind::types)
      return position;
    ++position;
  }
  return position;
}

status check_call(const function& called, const std::vector<edge>& inputs, size_t first,
                  const std::vector<dtype>& results) {
  auto mismatch = [&](const auto&... parts) {
    return invalid("function '", called.name(), "' ", parts...);
  };
  if (inputs.size() - first != called.arguments())
    return mismatch("takes ", called.arguments(), " arguments, got ", inputs.size() - first);
  for (size_t i = 0; i < called.arguments(); ++i) {
    const auto& source = inputs[first + i];
    const auto& argument = called.argument(i);
    auto* state = source.node->output_is_ref(source.index) ? resource_behind(source) : nullptr;
    if (called.argument_is_ref(i) && (!state || state->op().state_kind != argument.op().state_kind))
      return mismatch("takes a ", to_string(argument.op().state_kind), " as argument ", i,
                      ", got '", source,
                      state ? concat("', a ", to_string(state->op().state_kind)) : "', a value");
    if (!called.argument_is_ref(i) && state && state->op().state_kind != resource::variable)
      return mismatch("takes a value as argument ", i, ", got '", source, "', a ",
                      to_string(state->op().state_kind));
    if (argument.output_type(0) != source.type() && argument.op().state_kind != resource::table)
      return mismatch("takes ", argument.output_type(0), " as argument ", i, ", got ",
                      source.type(), " from '", source, "'");
    if (!argument.output_shape(0).compatible(source.dims()))
      return mismatch("takes shape ", argument.output_shape(0), " as argument ", i, ", got ",
                      source.dims(), " from '", source, "'");
  }
  if (results.size() != called.results())
    return mismatch("returns ", called.results(), " results, not ", results.size());
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] != called.result_type(i))
      return mismatch("returns ", called.result_type(i), " as result ", i, ", not ", results[i]);
  return {};
}

int passed_through(const op_def& op, const attr_map& attrs, size_t output) {
  int argument = -1;
  bool is_known = false;
  auto functions = functions_of(op, attrs);
  for (const auto* value : functions) {
    if (!value->body || (op.calls == call_kind::while_true && value == functions.front()))
      continue;
    if (output >= value->body->results())
      return -1;
    auto passed = value->body->passed_through(output);
    if (passed < 0 || (is_known && passed != argument))
      return -1;
    argument = passed;
    is_known = true;
  }
  return argument;
}

} // namespace troupe
