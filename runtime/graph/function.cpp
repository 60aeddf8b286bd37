#include "troupe/runtime/graph/function.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>

namespace troupe {
bool is_argument(const node& one) noexcept {
  return &one.op() == &internal_ops::feed ||
         (one.op().makes != resource::none &&
          internal_ops::state_argument(one.op().makes) == &one.op());
}

bool acts_in_a_body(const node& one) {
  if (&one.op() == &internal_ops::fetch)
    return false;
  if (has(one.op().effects, effect::stateful | effect::random | effect::blocking))
    return true;
  for (int i = 0; i < static_cast<int>(one.inputs().size()); ++i)
    if (one.input_is_ref(i) && !runs_functions(one.op()))
      return true;
  return std::ranges::any_of(functions_of(one), [](const function_value* each) {
    return !each->body || each->body->has_effects();
  });
}

result<std::shared_ptr<const function>> function::make(std::string name,
                                                       std::unique_ptr<graph> body,
                                                       const std::vector<edge>& results,
                                                       own_gradient gradient) {
  std::vector<int> handed;
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& from = results[i];
    if (!from || &from.node->graph() != body.get())
      return invalid("function '", name, "': result ", i, " is ",
                     from ? from.node->description() : std::string{"nothing"},
                     ", which is no part of it");
    handed.push_back(-1);
    if (is_argument(*from.node)) {
      handed.back() = static_cast<int>(from.node->attr<int64_t>("index"));
      continue;
    }
    // What an update hands on is the value after it.
    if (auto* state = from.node->output_is_ref(from.index) ? resource_behind(from) : nullptr;
        state && is_argument(*state) && !has(from.node->op().effects, effect::stateful)) {
      handed.back() = static_cast<int>(state->attr<int64_t>("index"));
      continue;
    }
    TROUPE_TRY(body->add({.op = "_Fetch",
                          .name = concat("_result_", i),
                          .inputs = {from},
                          .attrs = {{"index", i}},
                          .where = from.node->where()}));
  }
  return make(std::move(name), std::move(body), std::move(handed), std::move(gradient));
}

result<std::shared_ptr<const function>> function::make(std::string name,
                                                       std::unique_ptr<graph> body,
                                                       std::vector<int> handed_on,
                                                       own_gradient gradient) {
  std::shared_ptr<function> made{new function};
  made->name_ = std::move(name);
  made->body_ = std::move(body);
  made->handed_on_ = std::move(handed_on);
  made->gradient_ = std::move(gradient);
  TROUPE_TRY(made->note_arguments().within(concat("function '", made->name_, "'")));
  TROUPE_TRY(made->note_results().within(concat("function '", made->name_, "'")));
  made->note_what_runs();
  return std::shared_ptr<const function>{std::move(made)};
}

status function::note_arguments() {
  for (const auto& one : body_->nodes()) {
    if (!is_argument(*one)) {
      if (outlives_steps(one->op()))
        return invalid(one->description(), ": a ", to_string(one->op().makes),
                       " lives longer than a call: make it outside, and use it here");
      continue;
    }
    auto at = static_cast<size_t>(one->attr<int64_t>("index"));
    if (at >= body_->nodes().size())
      return invalid(one->description(), ": is argument ", at, " of fewer");
    arguments_.resize(std::max(arguments_.size(), at + 1));
    if (arguments_[at])
      return invalid(one->description(), ": is argument ", at, " as is ",
                     arguments_[at]->description());
    arguments_[at] = one.get();
  }
  for (size_t i = 0; i < arguments_.size(); ++i)
    if (!arguments_[i])
      return invalid("argument ", i, " of ", arguments_.size(), " is missing");
  return {};
}

status function::note_results() {
  computed_.resize(handed_on_.size());
  for (const auto& one : body_->nodes()) {
    if (&one->op() != &internal_ops::fetch)
      continue;
    auto at = static_cast<size_t>(one->attr<int64_t>("index"));
    if (at >= computed_.size() || computed_[at] || handed_on_[at] >= 0)
      return invalid(one->description(), ": there is no result ", at, " to be computed");
    computed_[at] = one.get();
  }
  for (size_t i = 0; i < handed_on_.size(); ++i)
    if (!computed_[i] &&
        (handed_on_[i] < 0 || static_cast<size_t>(handed_on_[i]) >= arguments_.size()))
      return invalid("result ", i, " is missing");
  return {};
}

void function::note_what_runs() {
  runs_.assign(body_->nodes().size(), false);
  std::vector<const node*> open;
  auto need = [&](const node& one) {
    if (!runs_[one.index()])
      open.push_back(&one);
    runs_[one.index()] = true;
  };
  for (const auto& one : body_->nodes()) {
    auto acts = acts_in_a_body(*one);
    has_effects_ = has_effects_ || acts;
    if (acts || is_argument(*one) || &one->op() == &internal_ops::fetch)
      need(*one);
  }
  while (!open.empty()) {
    const auto& one = *open.back();
    open.pop_back();
    for (const auto& input : one.inputs())
      need(*input.node);
    for (const auto* before : one.controls())
      need(*before);
  }
}

dtype function::result_type(size_t i) const {
  return computed_[place(i, "result", computed_.size())]
             ? computed_[i]->inputs()[0].type()
             : arguments_[static_cast<size_t>(handed_on_[i])]->output_type(0);
}

const partial_shape& function::result_dims(size_t i) const {
  return computed_[place(i, "result", computed_.size())]
             ? computed_[i]->inputs()[0].dims()
             : arguments_[static_cast<size_t>(handed_on_[i])]->output_shape(0);
}

bool function::result_is_ref(size_t i) const {
  return !computed_[place(i, "result", computed_.size())] &&
         argument_is_ref(static_cast<size_t>(handed_on_[i]));
}

bool calls_itself(const graph& body, std::string_view name) {
  return std::ranges::any_of(body.nodes(), [&](const auto& one) {
    return std::ranges::any_of(functions_of(*one), [&](const function_value* each) {
      if (!each->body)
        return each->name == name;
      const auto& by = each->body->gradient().by;
      return each->name != name &&
             (calls_itself(each->body->body(), name) || (by && calls_itself(by->body(), name)));
    });
  });
}

partial_shape widened(const partial_shape& a, const partial_shape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank())
    return partial_shape::unknown();
  auto made = a;
  for (int axis = 0; axis < a.rank(); ++axis)
    if (a[axis] != b[axis])
      made.set(axis, unknown_extent);
  return made;
}

// -- nodes that run functions ---------------------------------------------------------------------

std::vector<const function_value*> functions_of(const op_def& op, const attr_map& attrs) {
  std::vector<const function_value*> found;
  for (const auto& one : op.attrs) {
    auto it = attrs.find(one.name);
    if (it == attrs.end())
      continue;
    if (const auto* single = it->second.get_if<function_value>())
      found.push_back(single);
    else if (const auto* several = it->second.get_if<std::vector<function_value>>())
      for (const auto& each : *several)
        found.push_back(&each);
  }
  return found;
}

std::vector<const function_value*> functions_of(const node& of) {
  if (!runs_functions(of.op()))
    return {};
  return functions_of(of.op(), of.attrs());
}

const port ref_argument = ref("input", {}, resource::none);

bool takes_ref(const op_def& op, const attr_map& attrs, size_t argument, edge from) {
  if (!from.node->output_is_ref(from.index))
    return false;
  for (const auto* each : functions_of(op, attrs))
    if (each->body)
      return argument < each->body->arguments() && each->body->argument_is_ref(argument);
  return true; // what a function calls itself with it has been given
}

bool gives_ref(const op_def& op, const attr_map& attrs, size_t output) {
  if (handed_on(op, attrs, output) < 0)
    return false;
  for (const auto* each : functions_of(op, attrs))
    if (each->body && output < each->body->results() && each->body->handed_on(output) >= 0)
      return each->body->result_is_ref(output);
  return false;
}

int first_argument(const op_def& op) noexcept {
  int before = 0;
  for (const auto& at : op.inputs) {
    auto* attr = op.find_attr(at.type);
    if (attr && attr->kind == attr_kind::types)
      return before;
    ++before;
  }
  return before;
}

status check_call(const function& called, const std::vector<edge>& inputs, size_t first,
                  const std::vector<dtype>& results) {
  auto bad = [&](const auto&... parts) {
    return invalid("function '", called.name(), "' ", parts...);
  };
  if (inputs.size() - first != called.arguments())
    return bad("takes ", called.arguments(), " arguments, got ", inputs.size() - first);
  for (size_t i = 0; i < called.arguments(); ++i) {
    const auto& from = inputs[first + i];
    const auto& argument = called.argument(i);
    auto* state = from.node->output_is_ref(from.index) ? resource_behind(from) : nullptr;
    if (called.argument_is_ref(i) && (!state || state->op().makes != argument.op().makes))
      return bad("takes a ", to_string(argument.op().makes), " as argument ", i, ", got '", from,
                 state ? concat("', a ", to_string(state->op().makes)) : "', a value");
    if (!called.argument_is_ref(i) && state && state->op().makes != resource::variable)
      return bad("takes a value as argument ", i, ", got '", from, "', a ",
                 to_string(state->op().makes));
    if (argument.output_type(0) != from.type() && argument.op().makes != resource::table)
      return bad("takes ", argument.output_type(0), " as argument ", i, ", got ", from.type(),
                 " from '", from, "'");
    if (!argument.output_shape(0).compatible(from.dims()))
      return bad("takes shape ", argument.output_shape(0), " as argument ", i, ", got ",
                 from.dims(), " from '", from, "'");
  }
  if (results.size() != called.results())
    return bad("gives ", called.results(), " results, not ", results.size());
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i] != called.result_type(i))
      return bad("gives ", called.result_type(i), " as result ", i, ", not ", results[i]);
  return {};
}

int handed_on(const op_def& op, const attr_map& attrs, size_t output) {
  int found = -1;
  bool any = false;
  auto all = functions_of(op, attrs);
  for (const auto* each : all) {
    if (!each->body || (op.calls == calling::while_true && each == all.front()))
      continue;
    if (output >= each->body->results())
      return -1;
    auto here = each->body->handed_on(output);
    if (here < 0 || (any && here != found))
      return -1;
    found = here;
    any = true;
  }
  return found;
}

} // namespace troupe
