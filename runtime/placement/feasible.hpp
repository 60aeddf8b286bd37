// Finds the devices that can run a set of nodes: those that match its request and have its kernels.
#pragma once
#include "troupe/runtime/placement/constraints.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace troupe {

/// For one graph. Caches the results: sets with the same request share a list, so the memory grows
/// with the number of different requests.
class feasible_devices {
public:
  /// `soft`: a set whose requested device is missing gets another device. `avoid`: a set without
  /// state gets devices of other tasks, if its request allows one.
  feasible_devices(const device_list& devices, bool soft, const std::set<task_name>& avoid);

  struct choice {
    /// Indices of devices; the GPUs of the first device's task come before all others.
    const std::vector<int>* candidates = nullptr;
    bool moved_to_host = false;    ///< from a GPU that cannot run it to the processor of its host
    bool request_replaced = false; ///< the requested device is missing or cannot run it
  };
  /// Fails, naming a node of the set, if no device matches, or if none has a kernel for it.
  result<choice> find_for(const node_set& set);

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
  std::array<bool, 2> kinds_present_{}; // by device_kind
  std::map<std::tuple<device_name, bool, bool, bool>, std::vector<int>> known_;
};

} // namespace troupe
