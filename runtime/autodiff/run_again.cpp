#include "troupe/runtime/autodiff/run_again.hpp"

#include "troupe/runtime/functions/function_body.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"

#include <algorithm>

namespace troupe {
namespace {

bool takes_refs(const node& of) {
  for (int i = 0; i < static_cast<int>(of.inputs().size()); ++i)
    if (of.input_is_ref(i))
      return true;
  return false;
}

bool can_run_again(const node& one) {
  if (&one.op() == &internal_ops::fetch)
    return true;
  if (is_argument(one))
    return one.op().makes == resource::none || one.op().makes == resource::variable;
  if (runs_functions(one.op()))
    return functions_can_run_again(one);
  constexpr auto once = effect::stateful | effect::random | effect::blocking;
  return !has(one.op().effects, once) && one.op().makes == resource::none &&
         std::ranges::all_of(accesses_of(one), &state_access::as_value);
}

result<std::shared_ptr<const function>> over_values(const std::shared_ptr<const function>& of) {
  auto has_refs = false;
  for (size_t i = 0; i < of->arguments(); ++i)
    has_refs = has_refs || of->argument_is_ref(i);
  if (!has_refs)
    return of;
  const auto& from = of->body();
  auto made = std::make_unique<graph>(from.ops());
  std::vector<node*> copies(from.nodes().size());
  std::vector<edge> arguments(of->arguments()), results(of->results());
  const auto order = topological_order(from);
  for (const auto* one : *order) {
    std::vector<edge> inputs;
    for (const auto& input : one->inputs())
      inputs.push_back({copies[input.node->index()], input.index});
    if (&one->op() == &internal_ops::fetch) {
      results[static_cast<size_t>(one->attr<int64_t>("index"))] = inputs[0];
      continue;
    }
    auto& copy = copies[one->index()];
    if (is_argument(*one)) {
      auto index = static_cast<size_t>(one->attr<int64_t>("index"));
      TROUPE_ASSIGN(arguments[index],
                    add_value_argument(*made, index, {const_cast<node*>(one), 0}));
      copy = arguments[index].node;
      continue;
    }
    std::vector<node*> controls;
    for (auto* before : one->controls())
      controls.push_back(copies[before->index()]);
    if (!takes_refs(*one) && accesses_of(*one).empty()) {
      copy = made->add_copy(*one, std::move(inputs), std::move(controls));
      continue;
    }
    status outcome;
    auto spec = troupe::over_values(*one, std::move(inputs), outcome);
    TROUPE_TRY(std::move(outcome));
    spec.controls = std::move(controls);
    TROUPE_ASSIGN(copy, made->add(std::move(spec)));
  }
  for (size_t i = 0; i < of->results(); ++i)
    if (auto argument = of->handed_on(i); argument >= 0)
      results[i] = arguments[static_cast<size_t>(argument)];
  return function::make(of->name(), std::move(made), results);
}

std::string_view without_effects(std::string_view op) {
  constexpr std::pair<std::string_view, std::string_view> pairs[] = {
      {"While", "StatelessWhile"},
      {"If", "StatelessIf"},
      {"Case", "StatelessCase"},
      {"StatefulPartitionedCall", "PartitionedCall"}};
  for (auto [with, without] : pairs)
    if (op == with)
      return without;
  return op;
}

} // namespace

bool functions_can_run_again(const node& of) {
  return std::ranges::all_of(functions_of(of), [](const function_value* each) {
    if (!each->body || calls_itself(each->body->body(), each->name))
      return false;
    auto refs = false;
    for (size_t i = 0; i < each->body->arguments(); ++i)
      refs = refs || each->body->argument_is_ref(i);
    const auto& own = each->body->gradient();
    if (refs && (own.by || !own.to.empty()))
      return false; // which takes variables, too
    return std::ranges::all_of(each->body->body().nodes(),
                               [](const auto& one) { return can_run_again(*one); });
  });
}

node_spec over_values(const node& of, std::vector<edge> inputs, status& outcome) {
  node_spec made{.op = std::string{without_effects(of.op().name)},
                 .name = of.name(),
                 .inputs = std::move(inputs),
                 .attrs = of.attrs(),
                 .device = of.device(),
                 .where = of.where()};
  auto replace = [&](function_value& one) {
    auto found = over_values(one.body);
    if (found)
      one.body = *std::move(found);
    else
      outcome = found.status();
  };
  for (auto& [name, value] : made.attrs)
    if (auto one = value.get_if<function_value>()) {
      auto changed = *one;
      replace(changed);
      value = std::move(changed);
    } else if (auto all = value.get_if<std::vector<function_value>>()) {
      auto changed = *all;
      for (auto& each : changed)
        replace(each);
      value = std::move(changed);
    }
  return made;
}

} // namespace troupe
