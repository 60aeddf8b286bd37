// Which devices can run a set of nodes: those that match what it asks, and have the kernels.
#pragma once
#include "troupe/runtime/placement/constraints.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace troupe {

/// Of one graph. Remembers what it has found: sets that ask alike share a list, so that the memory
/// is that of the devices for each kind of question.
class feasible_devices {
public:
  /// `soft`: a set that asks for a device that is not there gets one that is. `avoid`: a set
  /// without state gets devices of other tasks, if it may use any.
  feasible_devices(const device_list& devices, bool soft, const std::set<task_name>& avoid);

  struct choice {
    /// Among the devices; the GPUs of the first one's task come before all others.
    const std::vector<int>* open = nullptr;
    bool moved = false;    ///< from a GPU, which cannot run it, to its processor
    bool softened = false; ///< it asked for what is not there, or cannot run it
  };
  /// Fails, naming a node of the set, where there is no such device, and where none has a kernel
  /// for it.
  result<choice> of(const node_set& set);

private:
  using kinds = std::array<bool, 2>; // by device_kind: whether all members can run there

  kinds kinds_of(const node_set& set) const;
  const std::vector<int>& find(const device_name& asked, kinds able, bool avoids = false);
  status failed(const node_set& set) const;
  device_name required_of(const node_set& set) const;
  std::optional<device_name> nearest(const device_name& asked, kinds able,
                                     const device_name& required);

  const device_list& devices_;
  const bool soft_, local_;
  const std::set<task_name>& avoid_;
  std::array<bool, 2> there_{}; // by device_kind
  std::map<std::tuple<device_name, bool, bool, bool>, std::vector<int>> known_;
};

} // namespace troupe
