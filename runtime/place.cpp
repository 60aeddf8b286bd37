#include "troupe/runtime/place.hpp"

#include "troupe/runtime/device.hpp"
#include "troupe/runtime/registry.hpp"

#include <numeric>

namespace troupe {
namespace {

// Sets of nodes that must share a device.
class colocation {
public:
  explicit colocation(size_t nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0); }
  int root(int id) {
    while (parent_[static_cast<size_t>(id)] != id) {
      auto& parent = parent_[static_cast<size_t>(id)];
      parent = parent_[static_cast<size_t>(parent)];
      id = parent;
    }
    return id;
  }
  void join(int a, int b) { parent_[static_cast<size_t>(root(a))] = root(b); }

private:
  std::vector<int> parent_;
};

bool runs_on(const node& at, const device_name& where) {
  if (has(at.op().effects, effect::blocking) || at.op().makes != resource::none)
    return where.kind == "cpu"; // queues and their handles live on the host
  auto* kernel = at.graph().ops().find_kernel(
      at.op().name, where.kind == "gpu" ? device_kind::cuda : device_kind::cpu);
  return kernel != nullptr;
}

std::string listed(const device_list& devices) {
  std::string text;
  for (const auto& one : devices)
    text += concat(text.empty() ? "" : ", ", one);
  return text;
}

} // namespace

result<std::vector<int>> place(const graph& of, const std::vector<node*>& nodes,
                               const device_list& devices) {
  if (devices.empty())
    return failure(error_kind::failed_precondition, "there is no device to place nodes on");
  colocation together{of.nodes().size()};
  for (auto* at : nodes)
    for (size_t i = 0; i < at->inputs().size(); ++i)
      if (at->input_is_ref(static_cast<int>(i)))
        together.join(at->id(), at->inputs()[i].node->id());
  std::vector<device_name> wanted(of.nodes().size());
  for (auto* at : nodes) {
    auto asked = device_name::parse(at->device());
    if (!asked)
      return asked.status().within(at->description());
    auto& joint = wanted[static_cast<size_t>(together.root(at->id()))];
    auto merged = merge(joint, *asked);
    if (!merged)
      return merged.status().within(concat(at->description(), " must be placed with its variable"));
    joint = *merged;
  }
  std::vector<int> chosen(of.nodes().size(), -1);
  for (auto* at : nodes) {
    const auto& asked = wanted[static_cast<size_t>(together.root(at->id()))];
    bool exists = false;
    for (size_t i = 0; i < devices.size() && chosen[static_cast<size_t>(at->id())] < 0; ++i) {
      if (!asked.matches(devices[i]))
        continue;
      exists = true;
      if (runs_on(*at, devices[i]))
        chosen[static_cast<size_t>(at->id())] = static_cast<int>(i);
    }
    if (!exists)
      return failure(error_kind::not_found, at->description(), ": there is no device '", asked,
                     "'; there are ", listed(devices));
    if (chosen[static_cast<size_t>(at->id())] < 0)
      return failure(error_kind::unimplemented, at->description(), ": no device that matches '",
                     asked, "' has a kernel for it");
  }
  return chosen;
}

} // namespace troupe
