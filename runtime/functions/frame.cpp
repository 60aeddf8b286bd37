#include "troupe/runtime/functions/frame.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/function.hpp"

#include <algorithm>

namespace troupe {

bool turns_overlap(const node& of) {
  return of.op().calls == calling::while_true && of.attr<int64_t>("parallel_iterations") > 1;
}

bool changes(const node& by, const node& state) {
  auto is_it = [&](const state_access& one) { return one.state == &state && one.updates; };
  auto accesses = accesses_of(by);
  if (std::ranges::none_of(accesses, is_it))
    return false;
  if (!runs_functions(by.op()))
    return true;
  for (const auto& access : accesses) {
    if (!is_it(access))
      continue;
    auto argument = static_cast<size_t>(access.input - first_argument(by.op()));
    for (const auto* each : functions_of(by)) {
      if (!each->body || argument >= each->body->arguments())
        return true; // it calls itself: who knows
      const auto& inside = each->body->argument(argument);
      if (std::ranges::any_of(each->body->body().nodes(),
                              [&](const auto& one) { return changes(*one, inside); }))
        return true;
    }
  }
  return false;
}

frame_order order_of_turns(const node& of) {
  frame_order found;
  auto apart = turns_overlap(of);
  for (const auto* each : functions_of(of)) {
    if (!each->body)
      continue;
    for (const auto& one : each->body->body().nodes()) {
      auto accesses = accesses_of(*one);
      for (const auto& access : accesses) {
        if (!apart || !access.updates || !is_argument(*access.state))
          continue;
        auto argument = static_cast<size_t>(access.state->attr<int64_t>("index"));
        const auto* state = resource_behind(of.inputs()[argument]);
        if (std::ranges::find(found.states, state) == found.states.end())
          found.states.push_back(state);
      }
      found.others |=
          acts_in_a_body(*one) && (!apart || runs_functions(one->op()) ||
                                   std::ranges::none_of(accesses, &state_access::updates));
    }
  }
  return found;
}

std::vector<int> frame_outputs(const node& of) {
  std::vector<int> found;
  for (int i = 0; i < of.outputs(); ++i)
    if (!of.output_is_ref(i))
      found.push_back(i);
  return found;
}

std::vector<int64_t> unchanged_outputs(const node& of) {
  std::vector<int64_t> found;
  const auto* body = of.op().calls == calling::while_true ? functions_of(of)[1] : nullptr;
  const auto outputs = frame_outputs(of);
  for (size_t place = 0; body && body->body && place < outputs.size(); ++place)
    if (body->body->handed_on(static_cast<size_t>(outputs[place])) == outputs[place])
      found.push_back(static_cast<int64_t>(place));
  return found;
}

} // namespace troupe
