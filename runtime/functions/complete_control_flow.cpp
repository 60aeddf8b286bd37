#include "troupe/runtime/functions/complete_control_flow.hpp"

#include <algorithm>

namespace troupe {
namespace {

result<function_value> finish(built_function&& built, std::string name) {
  TROUPE_ASSIGN(auto finished, function_body::finish(std::move(built.body), name, built.results));
  return function_value{std::move(name), std::move(finished)};
}

void wait_for(node_spec& spec, const built_function& built) {
  for (auto* before : built.body->predecessors())
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

status capture_remaining(built_function& built, const std::vector<edge>& captured) {
  for (size_t i = built.body->captured().size(); i < captured.size(); ++i)
    TROUPE_TRY(built.body->capture(captured[i]).status());
  return {};
}

status complete_branches(node_spec& choice, std::vector<built_function> branches, bool by_number) {
  const auto captured = branches.back().body->captured();
  std::vector<function_value> functions;
  auto has_effects = false;
  for (auto& branch : branches) {
    wait_for(choice, branch);
    TROUPE_TRY(capture_remaining(branch, captured));
    TROUPE_ASSIGN(auto branch_function,
                  finish(std::move(branch), concat("branch_", functions.size())));
    has_effects = has_effects || branch_function.body->has_effects();
    functions.push_back(std::move(branch_function));
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

status complete_loop(node_spec& loop, built_function condition, built_function body) {
  const auto captured = body.body->captured();
  TROUPE_TRY(capture_remaining(condition, captured));
  wait_for(loop, condition);
  wait_for(loop, body);
  for (size_t i = 0; i < captured.size(); ++i)
    body.results.push_back(body.body->argument(loop.inputs.size() + i));
  TROUPE_ASSIGN(auto condition_value, finish(std::move(condition), "condition"));
  TROUPE_ASSIGN(auto body_value, finish(std::move(body), "body"));
  loop.op = condition_value.body->has_effects() || body_value.body->has_effects()
                ? "While"
                : "StatelessWhile";
  loop.inputs.insert(loop.inputs.end(), captured.begin(), captured.end());
  loop.attrs["cond"] = std::move(condition_value);
  loop.attrs["body"] = std::move(body_value);
  return {};
}

} // namespace troupe
