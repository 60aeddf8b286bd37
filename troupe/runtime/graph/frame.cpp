#include "troupe/runtime/graph/frame.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/function.hpp"

#include <algorithm>
#include <set>

namespace troupe {
namespace {

// What functions say of where they run.
struct demands {
  bool waits = false;
  std::set<std::string> devices; // that nodes name
  bool recursive = false;        // a function calls itself
  bool leaves_state = false;     // where it lies, which no device is named for
};

void collect(const graph& body, demands& into, std::set<const function*>& seen) {
  for (const auto& one : body.nodes()) {
    into.waits |= has(one->op().effects, effect::blocking);
    if (!one->device().empty())
      into.devices.insert(one->device());
    for (const auto* each : functions_of(*one))
      if (!each->body)
        into.recursive = true;
      else if (seen.insert(each->body.get()).second)
        collect(each->body->body(), into, seen);
  }
}

demands demands_of(const node& of) {
  demands found;
  std::set<const function*> seen;
  for (const auto* each : functions_of(of))
    if (each->body && seen.insert(each->body.get()).second)
      collect(each->body->body(), found, seen);
  if (!of.device().empty())
    found.devices.insert(of.device());
  auto leaves = false;
  for (const auto& access : accesses_of(of))
    if (!access.state->device().empty())
      found.devices.insert(access.state->device());
    else
      leaves = true;
  // Where others name a device, it must lie there in all steps.
  found.leaves_state = leaves && !found.devices.empty();
  return found;
}

// One device that all of them allow, or nothing.
result<device_name> joint_device(const demands& of) {
  device_name all;
  for (const auto& one : of.devices) {
    TROUPE_ASSIGN(auto device, device_name::parse(one));
    TROUPE_ASSIGN(all, merge(all, device));
  }
  return all;
}

} // namespace

bool turns_overlap(const node& of) {
  return of.op().calls == calling::while_true && of.attr<int64_t>("parallel_iterations") > 1;
}

result<device_name> device_of_functions(const node& of) { return joint_device(demands_of(of)); }

bool needs_frame(const node& of) {
  if (!runs_functions(of.op()))
    return false;
  auto found = demands_of(of);
  return found.waits || (found.leaves_state && !found.recursive) || !joint_device(found);
}

std::vector<node*> find_frames(const graph& of) {
  std::vector<node*> found;
  for (const auto& one : of.nodes())
    if (needs_frame(*one))
      found.push_back(one.get());
  return found;
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
