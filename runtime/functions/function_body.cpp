#include "troupe/runtime/functions/function_body.hpp"

#include "troupe/runtime/graph/internal_ops.hpp"

namespace troupe {

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

} // namespace troupe
