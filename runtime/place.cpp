#include "troupe/runtime/place.hpp"

#include "troupe/runtime/device.hpp"
#include "troupe/runtime/internal_ops.hpp"
#include "troupe/runtime/registry.hpp"

#include <numeric>

namespace troupe {
namespace {

// Sets of nodes that must share a device.
class colocation {
public:
  explicit colocation(size_t nodes) : parent_(nodes) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
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
    return where.kind == "cpu"; // queues, tables and all handles live on the host
  auto* kernel = at.graph().ops().find_kernel(at.op().name, where.kind == "gpu" ? device_kind::cuda
                                                                                : device_kind::cpu);
  return kernel != nullptr;
}

std::string listed(const device_list& devices) {
  std::string text;
  for (const auto& one : devices)
    text += concat(text.empty() ? "" : ", ", one);
  return text;
}

} // namespace

result<std::vector<int>> place(const graph& of, const device_list& devices) {
  if (devices.empty())
    return failure(error_kind::failed_precondition, "there is no device to place nodes on");
  std::vector<node*> nodes;
  for (const auto& at : of.nodes())
    if (!internal_ops::is_boundary(*at))
      nodes.push_back(at.get());
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
  // A set goes to the first device that can run all of it: each node takes from its set's
  // candidates.
  std::vector<std::vector<int>> candidates(of.nodes().size());
  std::vector<bool> started(of.nodes().size(), false);
  for (auto* at : nodes) {
    auto root = static_cast<size_t>(together.root(at->id()));
    const auto& asked = wanted[root];
    auto& open = candidates[root];
    if (!started[root])
      for (size_t i = 0; i < devices.size(); ++i)
        if (asked.matches(devices[i]))
          open.push_back(static_cast<int>(i));
    if (!started[root] && open.empty())
      return failure(error_kind::not_found, at->description(), ": there is no device '", asked,
                     "'; there are ", listed(devices));
    started[root] = true;
    std::erase_if(open, [&](int i) { return !runs_on(*at, devices[static_cast<size_t>(i)]); });
    if (open.empty())
      return failure(error_kind::unimplemented, at->description(), ": no device that matches '",
                     asked, "' has a kernel for it");
  }
  std::vector<int> chosen(of.nodes().size(), -1);
  for (auto* at : nodes)
    chosen[static_cast<size_t>(at->id())] =
        candidates[static_cast<size_t>(together.root(at->id()))][0];
  return chosen;
}

} // namespace troupe
