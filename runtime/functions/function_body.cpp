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

bool function_body::is_in_scope(const node& target) const noexcept {
  return graph::is_in_scope(target) || (around_ && around_->is_in_scope(target));
}

status function_body::run_after(node& before) {
  if (!around_ || !around_->is_in_scope(before))
    return graph::run_after(before);
  predecessors_.push_back(&before);
  return {};
}

edge function_body::argument(size_t i) {
  auto* argument_node = find(concat("argument_", i));
  return argument_node ? argument_node->output(0) : edge{};
}

edge function_body::add_argument(dtype type, const partial_shape& dims) {
  auto index = arguments_++;
  auto added = add_here({.op = "_Feed",
                         .name = concat("argument_", index),
                         .attrs = {{"index", index}, {"dtype", type}, {"shape", dims}}});
  if (added)
    return (*added)->output(0);
  record_error(added.status());
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
  TROUPE_ASSIGN(auto* added, add_here({.op = std::string{op->name},
                                       .name = concat("argument_", index),
                                       .attrs = std::move(attrs)}));
  return added->output(0);
}

result<edge> function_body::import_edge(edge source) {
  if (!around_)
    return graph::import_edge(source);
  TROUPE_ASSIGN(auto outer_edge, around_->localize(source));
  if (const auto* value = constant_value(outer_edge);
      value && (copied_constant_ == SIZE_MAX ||
                (value->bytes() <= copied_constant_ && value->type() < dtype::string))) {
    auto& copied = known_[{outer_edge.node, outer_edge.index}];
    if (!copied) {
      TROUPE_ASSIGN(auto* copy, add_here({.op = "Const",
                                          .attrs = {{"dtype", value->type()}, {"value", *value}},
                                          .where = outer_edge.node->where()}));
      copied = copy->output(0);
    }
    return copied;
  }
  return capture(outer_edge);
}

result<edge> function_body::capture(edge source) {
  const auto* state = source.node->output_is_ref(source.index) ? resource_behind(source) : nullptr;
  auto key =
      state ? std::pair{state, -1} : std::pair{static_cast<const node*>(source.node), source.index};
  if (auto known_argument = known_.find(key); known_argument != known_.end()) {
    if (state)
      predecessors_.push_back(
          source.node); // the function must also see updates since the first capture
    return known_argument->second;
  }
  edge argument_edge;
  if (!state) {
    argument_edge = add_argument(source.type(), source.dims());
  } else {
    auto added =
        add_state_argument(state->op().state_kind, state->output_type(0), state->output_shape(0));
    if (!added)
      return added.status().with_context(concat('\'', source, '\''));
    argument_edge = *added;
  }
  if (!argument_edge)
    return take_error();
  known_[key] = argument_edge;
  captured_.push_back(source);
  return argument_edge;
}

result<std::shared_ptr<const function>> function_body::finish(std::unique_ptr<function_body> body,
                                                              std::string name,
                                                              const std::vector<edge>& results,
                                                              custom_gradient gradient) {
  std::vector<edge> own_results;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i])
      return invalid("function '", name, "': result ", i, " is an empty edge");
    auto own_result = body->localize(results[i]);
    if (!own_result)
      return own_result.status().with_context(concat("function '", name, "': result ", i));
    own_results.push_back(*own_result);
  }
  TROUPE_TRY(body->take_error());
  body->leave();
  return function::make(std::move(name), std::move(body), own_results, std::move(gradient));
}

function_copy copy_body(const function& source_function) {
  const auto& source = source_function.body();
  function_copy target{std::make_unique<graph>(source.ops()), {}, {}};
  auto& copies = target.copies;
  copies.resize(source.nodes().size());
  auto copy_of = [&](edge source_edge) {
    return edge{copies[source_edge.node->index()], source_edge.index};
  };
  target.arguments.resize(source_function.arguments());
  target.results.resize(source_function.results());
  const auto order = topological_order(source); // cannot fail, because a function has no cycles
  for (const auto* source_node : *order) {
    if (&source_node->op() == &internal_ops::fetch) {
      target.results[static_cast<size_t>(source_node->attr<int64_t>("index"))] =
          copy_of(source_node->inputs()[0]);
      continue;
    }
    std::vector<edge> inputs;
    for (const auto& input : source_node->inputs())
      inputs.push_back(copy_of(input));
    std::vector<node*> controls;
    for (auto* before : source_node->controls())
      controls.push_back(copies[before->index()]);
    auto* copy = target.body->add_copy(*source_node, std::move(inputs), std::move(controls));
    if (is_argument(*source_node))
      target.arguments[static_cast<size_t>(source_node->attr<int64_t>("index"))] = copy->output(0);
    copies[source_node->index()] = copy;
  }
  for (size_t i = 0; i < source_function.results(); ++i)
    if (auto argument = source_function.passed_through(i); argument >= 0)
      target.results[i] = target.arguments[static_cast<size_t>(argument)];
  return target;
}

result<edge> add_value_argument(graph& target, size_t index, edge source) {
  auto name = concat("argument_", index);
  while (target.find(name))
    name += '_';
  TROUPE_ASSIGN(auto* added, target.add({.op = "_Feed",
                                         .name = std::move(name),
                                         .attrs = {{"index", static_cast<int64_t>(index)},
                                                   {"dtype", source.type()},
                                                   {"shape", source.dims()}}}));
  return added->output(0);
}

} // namespace troupe
