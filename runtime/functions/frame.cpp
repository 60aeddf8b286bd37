#include "troupe/runtime/functions/frame.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/function.hpp"

#include <algorithm>

namespace troupe {

bool iterations_overlap(const node& loop) {
  return loop.op().calls == call_kind::while_true && loop.attr<int64_t>("parallel_iterations") > 1;
}

bool changes_state(const node& user, const node& state) {
  auto is_update = [&](const state_access& access) {
    return access.state == &state && access.updates;
  };
  auto accesses = accesses_of(user);
  if (std::ranges::none_of(accesses, is_update))
    return false;
  if (!runs_functions(user.op()))
    return true;
  for (const auto& access : accesses) {
    if (!is_update(access))
      continue;
    auto argument = static_cast<size_t>(access.input - first_argument(user.op()));
    for (const auto* callee : functions_of(user)) {
      if (!callee->body || argument >= callee->body->arguments())
        return true; // a recursive call: its effects are unknown
      const auto& inner_state = callee->body->argument(argument);
      if (std::ranges::any_of(callee->body->body().nodes(), [&](const auto& body_node) {
            return changes_state(*body_node, inner_state);
          }))
        return true;
    }
  }
  return false;
}

frame_order order_of_iterations(const node& frame) {
  frame_order order;
  auto is_overlapping = iterations_overlap(frame);
  for (const auto* callee : functions_of(frame)) {
    if (!callee->body)
      continue;
    for (const auto& body_node : callee->body->body().nodes()) {
      auto accesses = accesses_of(*body_node);
      for (const auto& access : accesses) {
        if (!is_overlapping || !access.updates || !is_argument(*access.state))
          continue;
        auto argument = static_cast<size_t>(access.state->attr<int64_t>("index"));
        const auto* state = resource_behind(frame.inputs()[argument]);
        if (std::ranges::find(order.states, state) == order.states.end())
          order.states.push_back(state);
      }
      order.others |= has_effects_in_function(*body_node) &&
                      (!is_overlapping || runs_functions(body_node->op()) ||
                       std::ranges::none_of(accesses, &state_access::updates));
    }
  }
  return order;
}

std::vector<int> frame_outputs(const node& frame) {
  std::vector<int> outputs;
  for (int i = 0; i < frame.outputs(); ++i)
    if (!frame.output_is_ref(i))
      outputs.push_back(i);
  return outputs;
}

std::vector<int64_t> unchanged_outputs(const node& loop) {
  std::vector<int64_t> unchanged;
  const auto* body = loop.op().calls == call_kind::while_true ? functions_of(loop)[1] : nullptr;
  const auto outputs = frame_outputs(loop);
  for (size_t index = 0; body && body->body && index < outputs.size(); ++index)
    if (body->body->passed_through(static_cast<size_t>(outputs[index])) == outputs[index])
      unchanged.push_back(static_cast<int64_t>(index));
  return unchanged;
}

} // namespace troupe
