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

// -- building -------------------------------------------------------------------------------------

function_body::function_body(graph& around, size_t copied_constant)
    : graph(around.ops()), around_(&around.innermost()), copied_constant_(copied_constant) {
  around_->begin_function(*this);
}

function_body::~function_body() { leave(); }

void function_body::leave() noexcept {
  if (around_)
    std::exchange(around_, nullptr)->end_function();
}

bool function_body::reaches(const node& what) const noexcept {
  return graph::reaches(what) || (around_ && around_->reaches(what));
}

status function_body::come_after(node& before) {
  if (!around_ || !around_->reaches(before))
    return graph::come_after(before);
  after_.push_back(&before);
  return {};
}

edge function_body::argument(size_t i) {
  auto* found = find(concat("argument_", i));
  return found ? found->output(0) : edge{};
}

edge function_body::add_argument(dtype type, const partial_shape& dims) {
  auto index = arguments_++;
  auto made = add_here({.op = "_Feed",
                        .name = concat("argument_", index),
                        .attrs = {{"index", index}, {"dtype", type}, {"shape", dims}}});
  if (made)
    return (*made)->output(0);
  note(made.status());
  return {};
}

result<edge> function_body::add_state_argument(resource kind, dtype type,
                                               const partial_shape& dims) {
  const auto* op = internal_ops::state_argument(kind);
  if (!op)
    return failure(error_kind::unimplemented, "functions cannot take a ", to_string(kind));
  auto index = arguments_++;
  attr_map attrs{{"index", index}};
  if (kind == resource::variable) {
    attrs["dtype"] = type;
    attrs["shape"] = dims;
  }
  TROUPE_ASSIGN(auto* made, add_here({.op = std::string{op->name},
                                      .name = concat("argument_", index),
                                      .attrs = std::move(attrs)}));
  return made->output(0);
}

result<edge> function_body::bring_in(edge from) {
  if (!around_)
    return graph::bring_in(from);
  TROUPE_ASSIGN(auto outside, around_->own(from));
  if (const auto* value = constant_value(outside);
      value && (copied_constant_ == SIZE_MAX ||
                (value->bytes() <= copied_constant_ && value->type() < dtype::string))) {
    auto& known = known_[{outside.node, outside.index}];
    if (!known) {
      TROUPE_ASSIGN(auto* copy, add_here({.op = "Const",
                                          .attrs = {{"dtype", value->type()}, {"value", *value}},
                                          .where = outside.node->where()}));
      known = copy->output(0);
    }
    return known;
  }
  return capture(outside);
}

result<edge> function_body::capture(edge from) {
  const auto* state = from.node->output_is_ref(from.index) ? resource_behind(from) : nullptr;
  auto key =
      state ? std::pair{state, -1} : std::pair{static_cast<const node*>(from.node), from.index};
  if (auto it = known_.find(key); it != known_.end()) {
    if (state)
      after_.push_back(from.node); // as it is now, not as it was when it was captured first
    return it->second;
  }
  edge made;
  if (!state) {
    made = add_argument(from.type(), from.dims());
  } else {
    auto added =
        add_state_argument(state->op().makes, state->output_type(0), state->output_shape(0));
    if (!added)
      return added.status().within(concat('\'', from, '\''));
    made = *added;
  }
  if (!made)
    return take_note();
  known_[key] = made;
  captured_.push_back(from);
  return made;
}

result<std::shared_ptr<const function>> function_body::finish(std::unique_ptr<function_body> body,
                                                              std::string name,
                                                              const std::vector<edge>& results,
                                                              own_gradient gradient) {
  std::vector<edge> own;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i])
      return invalid("function '", name, "': result ", i, " is an edge to nothing");
    auto here = body->own(results[i]);
    if (!here)
      return here.status().within(concat("function '", name, "': result ", i));
    own.push_back(*here);
  }
  TROUPE_TRY(body->take_note());
  body->leave();
  return function::make(std::move(name), std::move(body), own, std::move(gradient));
}

open_function opened(const function& of) {
  const auto& from = of.body();
  open_function made{std::make_unique<graph>(from.ops()), {}, {}};
  auto& copies = made.copies;
  copies.resize(from.nodes().size());
  auto copied = [&](edge what) { return edge{copies[what.node->index()], what.index}; };
  made.arguments.resize(of.arguments());
  made.results.resize(of.results());
  const auto order = topological_order(from); // which a function has
  for (const auto* one : *order) {
    if (&one->op() == &internal_ops::fetch) {
      made.results[static_cast<size_t>(one->attr<int64_t>("index"))] = copied(one->inputs()[0]);
      continue;
    }
    std::vector<edge> inputs;
    for (const auto& input : one->inputs())
      inputs.push_back(copied(input));
    std::vector<node*> controls;
    for (auto* before : one->controls())
      controls.push_back(copies[before->index()]);
    auto* copy = made.body->add_copy(*one, std::move(inputs), std::move(controls));
    if (is_argument(*one))
      made.arguments[static_cast<size_t>(one->attr<int64_t>("index"))] = copy->output(0);
    copies[one->index()] = copy;
  }
  for (size_t i = 0; i < of.results(); ++i)
    if (auto argument = of.handed_on(i); argument >= 0)
      made.results[i] = made.arguments[static_cast<size_t>(argument)];
  return made;
}

result<edge> add_value_argument(graph& to, size_t index, edge like) {
  auto name = concat("argument_", index);
  while (to.find(name))
    name += '_';
  TROUPE_ASSIGN(auto* made, to.add({.op = "_Feed",
                                    .name = std::move(name),
                                    .attrs = {{"index", static_cast<int64_t>(index)},
                                              {"dtype", like.type()},
                                              {"shape", like.dims()}}}));
  return made->output(0);
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
