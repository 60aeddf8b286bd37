#include "troupe/runtime/placement/frame_choice.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"

#include <algorithm>

namespace troupe {
namespace {

// Requirements of functions on the devices that run them.
struct demands {
  bool waits = false;
  std::set<std::string> devices; // named by nodes
  bool recursive = false;        // a function calls itself
  bool leaves_state = false;     // uses state without a named device, which must stay in place
  bool has_step_state = false;   // uses per-step state, which a nested step would not share
  bool has_variable = false;     // uses a variable without a kind of device, which may be on a GPU
  bool needs_processor = false;  // a node has no GPU kernel for its use of a variable
};

// Returns whether a node uses a variable itself. Reads of its value do not count: passes make them
// nodes.
bool takes_variable(const node& user) {
  return std::ranges::any_of(accesses_of(user), [](const state_access& access) {
    return !access.is_read && access.state->op().state_kind == resource::variable;
  });
}

void collect(const function& called, demands& into, std::set<const function*>& seen) {
  for (const auto& body_node : called.body().nodes()) {
    into.waits |= has(body_node->op().effects, effect::blocking);
    if (!body_node->device().empty())
      into.devices.insert(body_node->device());
    into.needs_processor |= !runs_functions(body_node->op()) && called.runs(*body_node) &&
                            takes_variable(*body_node) &&
                            site_of(*body_node, device_kind::gpu) == kernel_site::none;
    for (const auto* callee : functions_of(*body_node))
      if (!callee->body)
        into.recursive = true;
      else if (seen.insert(callee->body.get()).second)
        collect(*callee->body, into, seen);
  }
}

demands demands_of(const node& caller) {
  demands collected;
  std::set<const function*> seen;
  for (const auto* callee : functions_of(caller))
    if (!callee->body)
      collected.recursive = true;
    else if (seen.insert(callee->body.get()).second)
      collect(*callee->body, collected, seen);
  if (!caller.device().empty())
    collected.devices.insert(caller.device());
  auto has_unnamed_state = false;
  for (const auto& access : accesses_of(caller)) {
    const auto& state = *access.state;
    collected.has_step_state |= state.op().per_step;
    if (state.device().empty())
      has_unnamed_state = true;
    else
      collected.devices.insert(state.device());
    auto asked = device_name::parse(state.device());
    collected.has_variable |= state.op().state_kind == resource::variable && asked &&
                              asked->kind.empty() &&
                              site_of(state, device_kind::gpu) != kernel_site::none;
  }
  // If others name a device, this state must nevertheless stay in its place in all steps.
  collected.leaves_state = has_unnamed_state && !collected.devices.empty();
  return collected;
}

// Returns a device name that matches all requests, or an error.
result<device_name> joint_device(const demands& requests) {
  device_name joint;
  for (const auto& name : requests.devices) {
    TROUPE_ASSIGN(auto device, device_name::parse(name));
    TROUPE_ASSIGN(joint, merge(joint, device));
  }
  return joint;
}

bool belongs_to_gpu(const demands& requests, const result<device_name>& joint) {
  if (!joint || requests.recursive || requests.has_step_state)
    return false;
  return joint->kind.empty() ? requests.has_variable && !requests.needs_processor
                             : kind_of(*joint) == device_kind::gpu;
}

// Returns whether a matching device is a GPU. If no device matches, returns whether any device is a
// GPU, because it may replace the requested one (place_options::soft).
bool has_gpu(const device_list& devices, const device_name& asked) {
  auto is_gpu = [](const device_name& device) { return kind_of(device) == device_kind::gpu; };
  auto matches = [&](const device_name& device) { return asked.matches(device); };
  return std::ranges::any_of(devices,
                             [&](auto& device) { return matches(device) && is_gpu(device); }) ||
         (std::ranges::none_of(devices, matches) && std::ranges::any_of(devices, is_gpu));
}

} // namespace

std::set<std::string> named_devices(const node& caller) {
  return runs_functions(caller.op()) ? demands_of(caller).devices
                                     : std::set<std::string>{caller.device()};
}

result<device_name> device_of_functions(const node& caller) {
  return joint_device(demands_of(caller));
}

bool belongs_to_gpu(const node& caller) {
  auto requests = demands_of(caller);
  return belongs_to_gpu(requests, joint_device(requests));
}

bool needs_frame(const node& caller, const device_list& devices) {
  if (!runs_functions(caller.op()))
    return false;
  auto requests = demands_of(caller);
  auto joint = joint_device(requests);
  return requests.waits || (requests.leaves_state && !requests.recursive) || !joint ||
         (belongs_to_gpu(requests, joint) && has_gpu(devices, *joint));
}

std::vector<node*> find_frames(const graph& placed, const device_list& devices) {
  std::vector<node*> frames;
  for (const auto& candidate : placed.nodes())
    if (needs_frame(*candidate, devices))
      frames.push_back(candidate.get());
  return frames;
}

} // namespace troupe
