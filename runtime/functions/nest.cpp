#include "troupe/runtime/functions/nest.hpp"

#include <algorithm>

namespace troupe {
namespace {

result<function_value> finish(built_function&& of, std::string name) {
  TROUPE_ASSIGN(auto made, function_body::finish(std::move(of.body), name, of.results));
  return function_value{std::move(name), std::move(made)};
}

void wait_for(node_spec& spec, const built_function& of) {
  for (auto* before : of.body->after())
    if (std::ranges::find(spec.controls, before) == spec.controls.end())
      spec.controls.push_back(before);
}

status check_alike(const function& first, const function& other) {
  if (other.results() != first.results())
    return invalid("branches return ", first.results(), " and ", other.results(), " values");
  for (size_t i = 0; i < first.results(); ++i)
    if (other.result_type(i) != first.result_type(i))
      return invalid("branches return ", first.result_type(i), " and ", other.result_type(i),
                     " as value ", i);
  return {};
}

} // namespace

status capture_rest(built_function& of, const std::vector<edge>& all) {
  for (size_t i = of.body->captured().size(); i < all.size(); ++i)
    TROUPE_TRY(of.body->capture(all[i]).status());
  return {};
}

status complete_branches(node_spec& choice, std::vector<built_function> branches, bool by_number) {
  const auto captured = branches.back().body->captured();
  std::vector<function_value> functions;
  auto has_effects = false;
  for (auto& each : branches) {
    wait_for(choice, each);
    TROUPE_TRY(capture_rest(each, captured));
    TROUPE_ASSIGN(auto made, finish(std::move(each), concat("branch_", functions.size())));
    has_effects = has_effects || made.body->has_effects();
    functions.push_back(std::move(made));
    TROUPE_TRY(check_alike(*functions.front().body, *functions.back().body));
  }
  if (by_number) {
    choice.op = has_effects ? "Case" : "StatelessCase";
    choice.attrs["branches"] = std::move(functions);
  } else {
    choice.op = has_effects ? "If" : "StatelessIf";
    choice.attrs["then_branch"] = std::move(functions[0]);
    choice.attrs["else_branch"] = std::move(functions[1]);
  }
  choice.inputs.insert(choice.inputs.end(), captured.begin(), captured.end());
  return {};
}

status complete_loop(node_spec& loop, built_function condition, built_function turn) {
  const auto captured = turn.body->captured();
  TROUPE_TRY(capture_rest(condition, captured));
  wait_for(loop, condition);
  wait_for(loop, turn);
  for (size_t i = 0; i < captured.size(); ++i)
    turn.results.push_back(turn.body->argument(loop.inputs.size() + i));
  TROUPE_ASSIGN(auto test, finish(std::move(condition), "condition"));
  TROUPE_ASSIGN(auto body, finish(std::move(turn), "body"));
  loop.op = test.body->has_effects() || body.body->has_effects() ? "While" : "StatelessWhile";
  loop.inputs.insert(loop.inputs.end(), captured.begin(), captured.end());
  loop.attrs["cond"] = std::move(test);
  loop.attrs["body"] = std::move(body);
  return {};
}

} // namespace troupe
