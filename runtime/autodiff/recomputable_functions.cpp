#include "troupe/runtime/autodiff/recomputable_functions.hpp"

#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>

namespace troupe {
namespace {

bool takes_refs(const node& candidate) {
  for (int i = 0; i < static_cast<int>(candidate.inputs().size()); ++i)
    if (candidate.input_is_ref(i))
      return true;
  return false;
}

bool is_recomputable(const node& candidate) {
  if (&candidate.op() == &internal_ops::fetch)
    return true;
  if (is_argument(candidate))
    return candidate.op().state_kind == resource::none ||
           candidate.op().state_kind == resource::variable;
  if (runs_functions(candidate.op()))
    return functions_are_recomputable(candidate);
  constexpr auto not_repeatable = effect::stateful | effect::random | effect::blocking;
  return !has(candidate.op().effects, not_repeatable) &&
         candidate.op().state_kind == resource::none &&
         std::ranges::all_of(accesses_of(candidate), &state_access::is_read);
}

result<std::shared_ptr<const function>>
clone_with_values(const std::shared_ptr<const function>& source_function) {
  auto has_refs = false;
  for (size_t i = 0; i < source_function->arguments(); ++i)
    has_refs = has_refs || source_function->argument_is_ref(i);
  if (!has_refs)
    return source_function;
  const auto& source = source_function->body();
  auto target = std::make_unique<graph>(source.ops());
  std::vector<node*> copies(source.nodes().size());
  std::vector<edge> arguments(source_function->arguments()), results(source_function->results());
  const auto order = topological_order(source);
  for (const auto* source_node : *order) {
    std::vector<edge> inputs;
    for (const auto& input : source_node->inputs())
      inputs.push_back({copies[input.node->index()], input.index});
    if (&source_node->op() == &internal_ops::fetch) {
      results[static_cast<size_t>(source_node->attr<int64_t>("index"))] = inputs[0];
      continue;
    }
    auto& copy = copies[source_node->index()];
    if (is_argument(*source_node)) {
      auto index = static_cast<size_t>(source_node->attr<int64_t>("index"));
      TROUPE_ASSIGN(arguments[index],
                    add_value_argument(*target, index, {const_cast<node*>(source_node), 0}));
      copy = arguments[index].node;
      continue;
    }
    std::vector<node*> controls;
    for (auto* before : source_node->controls())
      controls.push_back(copies[before->index()]);
    if (!takes_refs(*source_node) && accesses_of(*source_node).empty()) {
      copy = target->add_copy(*source_node, std::move(inputs), std::move(controls));
      continue;
    }
    status outcome;
    auto spec = troupe::clone_with_values(*source_node, std::move(inputs), outcome);
    TROUPE_TRY(std::move(outcome));
    spec.controls = std::move(controls);
    TROUPE_ASSIGN(copy, target->add(std::move(spec)));
  }
  for (size_t i = 0; i < source_function->results(); ++i)
    if (auto argument = source_function->passed_through(i); argument >= 0)
      results[i] = arguments[static_cast<size_t>(argument)];
  return function::make(source_function->name(), std::move(target), results);
}

std::string_view stateless_variant(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> pairs[] = {
      {"While", "StatelessWhile"},
      {"If", "StatelessIf"},
      {"Case", "StatelessCase"},
      {"StatefulPartitionedCall", "PartitionedCall"}};
  for (auto [stateful, stateless] : pairs)
    if (op == stateful)
      return stateless;
  return op;
}

} // namespace

bool functions_are_recomputable(const node& caller) {
  return std::ranges::all_of(functions_of(caller), [](const function_value* value) {
    if (!value->body || calls_itself(value->body->body(), value->name))
      return false;
    auto refs = false;
    for (size_t i = 0; i < value->body->arguments(); ++i)
      refs = refs || value->body->argument_is_ref(i);
    const auto& gradient = value->body->gradient();
    if (refs && (gradient.backward || !gradient.arguments.empty()))
      return false; // the custom gradient takes variables, too
    return std::ranges::all_of(value->body->body().nodes(),
                               [](const auto& body_node) { return is_recomputable(*body_node); });
  });
}

node_spec clone_with_values(const node& source, std::vector<edge> inputs, status& outcome) {
  node_spec spec{.op = std::string{stateless_variant(source.op().name)},
                 .name = source.name(),
                 .inputs = std::move(inputs),
                 .attrs = source.attrs(),
                 .device = source.device(),
                 .where = source.where()};
  auto replace = [&](function_value& function_to_replace) {
    auto clone = clone_with_values(function_to_replace.body);
    if (clone)
      function_to_replace.body = *std::move(clone);
    else
      outcome = clone.status();
  };
  for (auto& [name, value] : spec.attrs)
    if (auto single_value = value.get_if<function_value>()) {
      auto replaced = *single_value;
      replace(replaced);
      value = std::move(replaced);
    } else if (auto values = value.get_if<std::vector<function_value>>()) {
      auto replaced = *values;
      for (auto& item : replaced)
        replace(item);
      value = std::move(replaced);
    }
  return spec;
}

} // namespace troupe
