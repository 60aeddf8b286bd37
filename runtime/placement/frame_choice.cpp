#include "troupe/runtime/placement/frame_choice.hpp"

#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/function.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"

#include <algorithm>

namespace troupe {
namespace {

// What functions say of where they run.
struct demands {
  bool waits = false;
  std::set<std::string> devices; // that nodes name
  bool recursive = false;        // a function calls itself
  bool leaves_state = false;     // where it lies, which no device is named for
  bool has_step_state = false;   // which a step within the step could not have
  bool has_variable = false;     // which names no kind of device, and would lie on a GPU
  bool needs_processor = false;  // for what a node does with a variable
};

// Itself: a value that is read goes anywhere, and passes make nodes of reads.
bool takes_variable(const node& one) {
  return std::ranges::any_of(accesses_of(one), [](const state_access& access) {
    return !access.as_value && access.state->op().makes == resource::variable;
  });
}

void collect(const function& of, demands& into, std::set<const function*>& seen) {
  for (const auto& one : of.body().nodes()) {
    into.waits |= has(one->op().effects, effect::blocking);
    if (!one->device().empty())
      into.devices.insert(one->device());
    into.needs_processor |= !runs_functions(one->op()) && of.runs(*one) && takes_variable(*one) &&
                            site_of(*one, device_kind::gpu) == kernel_site::none;
    for (const auto* each : functions_of(*one))
      if (!each->body)
        into.recursive = true;
      else if (seen.insert(each->body.get()).second)
        collect(*each->body, into, seen);
  }
}

demands demands_of(const node& of) {
  demands found;
  std::set<const function*> seen;
  for (const auto* each : functions_of(of))
    if (!each->body)
      found.recursive = true;
    else if (seen.insert(each->body.get()).second)
      collect(*each->body, found, seen);
  if (!of.device().empty())
    found.devices.insert(of.device());
  auto leaves = false;
  for (const auto& access : accesses_of(of)) {
    const auto& state = *access.state;
    found.has_step_state |= state.op().per_step;
    if (state.device().empty())
      leaves = true;
    else
      found.devices.insert(state.device());
    auto asked = device_name::parse(state.device());
    found.has_variable |= state.op().makes == resource::variable && asked && asked->kind.empty() &&
                          site_of(state, device_kind::gpu) != kernel_site::none;
  }
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

bool belongs_to_gpu(const demands& of, const result<device_name>& joint) {
  if (!joint || of.recursive || of.has_step_state)
    return false;
  return joint->kind.empty() ? of.has_variable && !of.needs_processor
                             : kind_of(*joint) == device_kind::gpu;
}

// Whether one of these can be it. Where no device is what was asked for, another may take its place
// (placing::soft).
bool has_gpu(const device_list& devices, const device_name& asked) {
  auto is_gpu = [](const device_name& one) { return kind_of(one) == device_kind::gpu; };
  auto matches = [&](const device_name& one) { return asked.matches(one); };
  return std::ranges::any_of(devices, [&](auto& one) { return matches(one) && is_gpu(one); }) ||
         (std::ranges::none_of(devices, matches) && std::ranges::any_of(devices, is_gpu));
}

} // namespace

std::set<std::string> named_devices(const node& of) {
  return runs_functions(of.op()) ? demands_of(of).devices : std::set<std::string>{of.device()};
}

result<device_name> device_of_functions(const node& of) { return joint_device(demands_of(of)); }

bool belongs_to_gpu(const node& of) {
  auto found = demands_of(of);
  return belongs_to_gpu(found, joint_device(found));
}

bool needs_frame(const node& of, const device_list& devices) {
  if (!runs_functions(of.op()))
    return false;
  auto found = demands_of(of);
  auto joint = joint_device(found);
  return found.waits || (found.leaves_state && !found.recursive) || !joint ||
         (belongs_to_gpu(found, joint) && has_gpu(devices, *joint));
}

std::vector<node*> find_frames(const graph& of, const device_list& devices) {
  std::vector<node*> found;
  for (const auto& one : of.nodes())
    if (needs_frame(*one, devices))
      found.push_back(one.get());
  return found;
}

} // namespace troupe
