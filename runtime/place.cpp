#include "troupe/runtime/place.hpp"

#include "troupe/runtime/device.hpp"
#include "troupe/runtime/internal_ops.hpp"
#include "troupe/runtime/registry.hpp"
#include "troupe/runtime/residence.hpp"

#include <algorithm>
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

// Among devices that a node may use, the GPUs of the first's task come first: a node that does not
// say where runs on one, if it can.
void prefer_accelerators(std::vector<int>& open, const device_list& devices) {
  if (open.empty())
    return;
  const auto home = devices[static_cast<size_t>(open.front())].on_task();
  std::ranges::stable_partition(open, [&](int i) {
    const auto& one = devices[static_cast<size_t>(i)];
    return kind_of(one) == device_kind::gpu && one.on_task() == home;
  });
}

std::string listed(const device_list& devices) {
  std::string text;
  for (const auto& one : devices)
    text += concat(text.empty() ? "" : ", ", one);
  return text;
}

} // namespace

device_kind kind_of(const device_name& where) {
  return where.kind == to_string(device_kind::gpu) ? device_kind::gpu : device_kind::cpu;
}

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
    if (!started[root])
      prefer_accelerators(open, devices);
    started[root] = true;
    std::erase_if(open, [&](int i) {
      return way_of(*at, kind_of(devices[static_cast<size_t>(i)])) == way::none;
    });
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
