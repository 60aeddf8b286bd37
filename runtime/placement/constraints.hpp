// Finds the sets of nodes that must share a device, and their joint request (white paper 4.3).
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace troupe {

/// The reason that two nodes share a device.
enum class colocation_reason : uint8_t {
  none,
  state, ///< one uses the variable, queue or table of the other
  group  ///< both are colocated by name (graph/colocation.hpp)
};

/// Nodes that share a device, and their joint request.
struct node_set {
  std::vector<node*> members;
  device_name asked;
  device_name required = {}; ///< `asked` without preferences (device/preferred_device.hpp)
};

/// The nodes of a graph without feeds and fetches, divided into sets: a union-find over ref edges,
/// handles of state and colocation groups.
class node_sets {
public:
  /// Fails if the device of a node is malformed, or if nodes of a set contradict each other: the
  /// error names both nodes, their requests, and the chain of reasons that connects them. The state
  /// of a frame does not place it; whether a node is a frame depends on `devices`.
  static result<node_sets> find(const graph& placed, const device_list& devices);

  const std::vector<node_set>& all() const noexcept { return sets_; }
  /// The set's index in all(); -1 for feeds and fetches.
  int set_of(const node& member) const { return set_of_[member.index()]; }

  struct reason {
    colocation_reason kind = colocation_reason::none;
    const node* other = nullptr;
  };
  /// Returns the reason that the node joined its set; none if it is alone, or the first.
  reason reason_of(const node& member) const;

private:
  struct link {
    int to;
    colocation_reason kind;
  };

  void join(int a, int b, colocation_reason kind);
  int root(int id);
  std::string chain(const graph& placed, int from, int to) const;
  status contradiction(const graph& placed, const node_set& set, const node& last,
                       bool local) const;

  std::vector<node_set> sets_;
  std::vector<int> set_of_, parent_;       // by node id
  std::map<int, std::vector<link>> links_; // a forest: the links that joined two sets
};

} // namespace troupe
