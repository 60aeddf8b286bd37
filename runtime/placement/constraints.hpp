// Which nodes of a step must share a device, and what they ask of it together (white paper 4.3).
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// Why two nodes share a device.
enum class bond : uint8_t {
  none,
  state, ///< one takes the variable, queue or table of the other
  group  ///< both are colocated by name (graph/colocation.hpp)
};

/// Nodes that go to one device, and what they ask of it together.
struct node_set {
  std::vector<node*> members;
  device_name asked;
  device_name required = {}; ///< without what is only preferred (device/preferred_device.hpp)
};

/// All nodes of a graph but feeds and fetches, divided into sets: a union-find over ref edges,
/// handles of state and colocation groups.
class node_sets {
public:
  /// Fails where a node's device is no name of one, and where nodes of a set contradict each other:
  /// the error names both, what they ask, and why they belong together, from one to the next.
  /// Frames belong nowhere by their state: which nodes are some depends on the `devices`.
  static result<node_sets> find(const graph& of, const device_list& devices);

  const std::vector<node_set>& all() const noexcept { return sets_; }
  /// Among all(); -1 for feeds and fetches.
  int set_of(const node& which) const { return set_of_[which.index()]; }

  struct reason {
    bond kind = bond::none;
    const node* with = nullptr;
  };
  /// The bond that brought the node into its set; none where it is alone, or the first.
  reason reason_of(const node& which) const;

private:
  struct link {
    int to;
    bond kind;
  };

  void join(int a, int b, bond why);
  int root(int id);
  std::string chain(const graph& of, int from, int to) const;
  status contradiction(const graph& of, const node_set& set, const node& last, bool local) const;

  std::vector<node_set> sets_;
  std::vector<int> set_of_, parent_;       // by node id
  std::map<int, std::vector<link>> links_; // a forest: those that joined what was apart
};

} // namespace troupe
