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

// Nodes that go to one device, and what they ask of it together.
struct node_set {
  std::vector<node*> members;
  device_name asked;
};

result<std::vector<node_set>> find_sets(const graph& of) {
  colocation together{of.nodes().size()};
  for (const auto& at : of.nodes())
    for (size_t i = 0; i < at->inputs().size(); ++i)
      if (at->input_is_ref(static_cast<int>(i)))
        together.join(at->id(), at->inputs()[i].node->id());
  std::vector<node_set> sets;
  std::vector<int> set_of(of.nodes().size(), -1); // by root
  for (const auto& at : of.nodes()) {
    if (internal_ops::is_boundary(*at))
      continue;
    auto& index = set_of[static_cast<size_t>(together.root(at->id()))];
    if (index < 0) {
      index = static_cast<int>(sets.size());
      sets.emplace_back();
    }
    auto& set = sets[static_cast<size_t>(index)];
    auto asked = device_name::parse(at->device());
    if (!asked)
      return asked.status().within(at->description());
    auto merged = merge(set.asked, *asked);
    if (!merged)
      return merged.status().within(concat(at->description(), " must be placed with its variable"));
    set.asked = *merged;
    set.members.push_back(at.get());
  }
  return sets;
}

// The first device that can run all of a set.
result<int> find_device(const node_set& set, const device_name& asked, const device_list& devices) {
  std::vector<int> open;
  for (size_t i = 0; i < devices.size(); ++i)
    if (asked.matches(devices[i]))
      open.push_back(static_cast<int>(i));
  if (open.empty())
    return failure(error_kind::not_found, set.members.front()->description(),
                   ": there is no device '", asked, "'; there are ", listed(devices));
  prefer_accelerators(open, devices);
  for (auto* at : set.members) {
    std::erase_if(open, [&](int i) {
      return way_of(*at, kind_of(devices[static_cast<size_t>(i)])) == way::none;
    });
    if (open.empty())
      return failure(error_kind::unimplemented, at->description(), ": no device that matches '",
                     asked, "' has a kernel for it");
  }
  return open.front();
}

} // namespace

device_kind kind_of(const device_name& where) {
  return where.kind == to_string(device_kind::gpu) ? device_kind::gpu : device_kind::cpu;
}

result<placement> place(const graph& of, const device_list& devices) {
  if (devices.empty())
    return failure(error_kind::failed_precondition, "there is no device to place nodes on");
  TROUPE_ASSIGN(auto sets, find_sets(of));
  placement found{.chosen = std::vector<int>(of.nodes().size(), -1), .moved = {}};
  for (const auto& set : sets) {
    auto device = find_device(set, set.asked, devices);
    if (!device && device.status().kind() == error_kind::unimplemented &&
        kind_of(set.asked) == device_kind::gpu) {
      auto gpu = std::ranges::find_if(devices, [&](auto& one) { return set.asked.matches(one); });
      if (auto beside =
              find_device(set, {.job = gpu->job, .task = gpu->task, .kind = "cpu"}, devices)) {
        device = *beside;
        found.moved.insert(found.moved.end(), set.members.begin(), set.members.end());
      }
    }
    TROUPE_TRY(device.status());
    for (auto* at : set.members)
      found.chosen[static_cast<size_t>(at->id())] = *device;
  }
  return found;
}

} // namespace troupe
