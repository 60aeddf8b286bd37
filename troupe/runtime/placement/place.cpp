#include "troupe/runtime/placement/place.hpp"

#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/graph/accesses.hpp"
#include "troupe/runtime/graph/frame.hpp"
#include "troupe/runtime/graph/internal_ops.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/placement/cost.hpp"
#include "troupe/runtime/placement/kernel_site.hpp"
#include "troupe/runtime/placement/minimum_cut.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>

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

// Who takes a variable itself, or the value behind a handle: what is read of it may be few rows.
// The latter may be somewhere else, if it says so.
bool stays_with(const node& at, const state_access& access, bool is_frame) {
  return (!is_frame && at.input_is_ref(access.input)) ||
         (at.input_port(access.input).handle &&
          (at.device().empty() || at.device() == access.state->device()));
}

result<std::vector<node_set>> find_sets(const graph& of) {
  colocation together{of.nodes().size()};
  for (const auto& node : of.nodes()) {
    auto is_frame = needs_frame(*node);
    for (const auto& access : accesses_of(*node))
      if (stays_with(*node, access, is_frame))
        together.join(node->id(), node->inputs()[static_cast<size_t>(access.input)].node->id());
  }
  std::vector<node_set> sets;
  std::vector<int> set_of(of.nodes().size(), -1); // by root
  for (const auto& node : of.nodes()) {
    if (internal_ops::is_boundary(*node))
      continue;
    auto& index = set_of[static_cast<size_t>(together.root(node->id()))];
    if (index < 0) {
      index = static_cast<int>(sets.size());
      sets.emplace_back();
    }
    auto& set = sets[static_cast<size_t>(index)];
    auto asked = device_name::parse(node->device());
    if (!asked)
      return within(*node, asked.status());
    auto merged = merge(set.asked, *asked);
    if (!merged)
      return merged.status().within(
          concat(node->description(), " must be placed with its variable"));
    set.asked = *merged;
    set.members.push_back(node.get());
  }
  return sets;
}

// The devices that can run all of a set, those that it should rather run on first.
result<std::vector<int>> find_devices(const node_set& set, const device_name& asked,
                                      const device_list& devices) {
  std::vector<int> open;
  for (size_t i = 0; i < devices.size(); ++i)
    if (asked.matches(devices[i]))
      open.push_back(static_cast<int>(i));
  if (open.empty())
    return failure(error_kind::not_found, set.members.front()->description(),
                   ": there is no device '", asked, "'; there are ", listed(devices));
  prefer_accelerators(open, devices);
  for (auto* node : set.members) {
    std::erase_if(open, [&](int i) {
      return site_of(*node, kind_of(devices[static_cast<size_t>(i)])) == kernel_site::none;
    });
    if (open.empty())
      return failure(error_kind::unimplemented, node->description(), ": no device that matches '",
                     asked, "' has a kernel for it");
  }
  return open;
}

// -- by cost -------------------------------------------------------------------------------------

// A GPU and the processor of its task.
struct rivals {
  int gpu, processor;
  auto operator<=>(const rivals&) const = default;
};

// Those that a set may choose between.
std::optional<rivals> find_rivals(const node_set& set, const std::vector<int>& open,
                                  const device_list& devices) {
  const auto& first = devices[static_cast<size_t>(open.front())];
  if (kind_of(first) != device_kind::gpu || set.members.size() > 1)
    return {};
  const auto& at = *set.members.front();
  if (at.op().makes != resource::none ||
      has(at.op().effects, effect::stateful | effect::random | effect::blocking))
    return {};
  for (auto i : open) {
    const auto& one = devices[static_cast<size_t>(i)];
    if (kind_of(one) == device_kind::cpu && one.on_task() == first.on_task())
      return rivals{open.front(), i};
  }
  return {};
}

// A tensor of the host that a kernel beside a GPU looks at, or an order: a message between threads.
constexpr int64_t message = 2000;

// Divides the nodes that may choose between one GPU and its processor, so that the sum of all times
// is least: those of nodes, and those of tensors that go from one to the other. What is somewhere
// else is left out: it is as far from both.
class divider {
public:
  divider(const graph& of, rivals between, const placing& how, std::vector<int>& chosen,
          const std::vector<bool>& may_choose)
      : of_(of), between_(between), how_(how), chosen_(chosen), may_choose_(may_choose) {}

  // The processor is the first side: what is as good on both goes to the GPU.
  void run() {
    for (const auto& node : of_.nodes())
      add(*node);
    for (const auto& node : of_.nodes())
      connect(*node);
    auto on_processor = cut_.solve();
    for (const auto& [id, item] : items_)
      if (is_free(id))
        chosen_[static_cast<size_t>(id)] = on_processor[item] ? between_.processor : between_.gpu;
  }

private:
  bool is_free(int id) const {
    return may_choose_[static_cast<size_t>(id)] && chosen_[static_cast<size_t>(id)] == between_.gpu;
  }

  void add(const node& node) {
    auto here = chosen_[static_cast<size_t>(node.id())];
    auto on = [&](device_kind kind) {
      // Beside a GPU runs what processors run.
      auto kept = site_of(node, kind) == kernel_site::host ? device_kind::cpu : kind;
      // What a GPU counts goes to the host before it goes on.
      auto waits = kept == device_kind::gpu && has(node.op().effects, effect::data_dependent_shape);
      return std::llround(expected_nanoseconds(node, kept, how_.measured) +
                          (waits ? expected_download(dtype::i64, partial_shape{1}) : 0));
    };
    if (is_free(node.id()))
      items_[node.id()] = cut_.add_item(on(device_kind::cpu), on(device_kind::gpu));
    else if (here == between_.processor || internal_ops::is_boundary(node))
      items_[node.id()] = cut_.add_item(0, minimum_cut::never);
    else if (here == between_.gpu)
      items_[node.id()] = cut_.add_item(minimum_cut::never, 0);
  }

  void connect(const node& node) {
    auto here = items_.find(node.id());
    if (here == items_.end())
      return;
    for (int i = 0; i < static_cast<int>(node.inputs().size()); ++i) {
      const auto& from = node.inputs()[static_cast<size_t>(i)];
      auto there = items_.find(from.node->id());
      if (there == items_.end() || node.input_is_ref(i) || goes_along(*from.node))
        continue;
      auto looked_at =
          site_of(node, device_kind::gpu) == kernel_site::host || node.input_port(i).on_host;
      if (looked_at)
        cut_.part(there->second, here->second, message);
      else
        cut_.part(uploaded(from, there->second), here->second, minimum_cut::never);
      cut_.part(here->second, downloaded(from, there->second), minimum_cut::never);
    }
    for (auto* before : node.controls())
      if (auto there = items_.find(before->id()); there != items_.end() && !goes_along(*before)) {
        cut_.part(there->second, here->second, message);
        cut_.part(here->second, there->second, message);
      }
  }

  static bool goes_along(const node& node) {
    return internal_ops::is_constant(node) && node.controls().empty();
  }

  // However many want it on the other side, a tensor goes there once: they share an item that must
  // be paid for to be there.
  size_t uploaded(edge what, size_t from) {
    return once(uploads_, what, [&](size_t copy) {
      cut_.part(from, copy, std::llround(expected_upload(what.type(), what.dims())));
    });
  }
  size_t downloaded(edge what, size_t from) {
    return once(downloads_, what, [&](size_t copy) {
      cut_.part(copy, from, std::llround(expected_download(what.type(), what.dims())));
    });
  }

  using copies = std::map<std::pair<int, int>, size_t>; // by node and output
  template <class Pay>
  size_t once(copies& of, edge what, Pay pay) {
    auto [it, fresh] = of.try_emplace({what.node->id(), what.index});
    if (fresh) {
      it->second = cut_.add_item(0, 0);
      pay(it->second);
    }
    return it->second;
  }

  const graph& of_;
  const rivals between_;
  const placing& how_;
  std::vector<int>& chosen_;
  const std::vector<bool>& may_choose_;
  minimum_cut cut_;
  std::map<int, size_t> items_; // by node
  copies uploads_, downloads_;
};

} // namespace

device_kind kind_of(const device_name& where) {
  return where.kind == to_string(device_kind::gpu) ? device_kind::gpu : device_kind::cpu;
}

result<placement> place(const graph& of, const device_list& devices, const placing& how) {
  if (devices.empty())
    return failure(error_kind::failed_precondition, "there is no device to place nodes on");
  TROUPE_ASSIGN(auto sets, find_sets(of));
  placement found{.chosen = std::vector<int>(of.nodes().size(), -1), .moved = {}};
  std::vector<bool> may_choose(of.nodes().size());
  std::set<rivals> contests;
  for (const auto& set : sets) {
    auto open = find_devices(set, set.asked, devices);
    if (!open && open.status().kind() == error_kind::unimplemented &&
        kind_of(set.asked) == device_kind::gpu) {
      auto gpu = std::ranges::find_if(devices, [&](auto& one) { return set.asked.matches(one); });
      if (auto beside =
              find_devices(set, {.job = gpu->job, .task = gpu->task, .kind = "cpu"}, devices)) {
        open = std::move(beside);
        found.moved.insert(found.moved.end(), set.members.begin(), set.members.end());
      }
    }
    TROUPE_TRY(open.status());
    for (auto* node : set.members)
      found.chosen[static_cast<size_t>(node->id())] = open->front();
    if (auto between = how.by_cost ? find_rivals(set, *open, devices) : std::nullopt) {
      may_choose[static_cast<size_t>(set.members.front()->id())] = true;
      contests.insert(*between);
    }
  }
  for (const auto& between : contests)
    divider{of, between, how, found.chosen, may_choose}.run();
  return found;
}

} // namespace troupe
