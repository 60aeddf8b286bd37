// A simulated run of a step: when each node begins and ends by the cost model, and for nodes that
// are free to choose, which device is best (white paper 3.2.1).
#pragma once
#include "troupe/runtime/placement/place.hpp"
#include "troupe/runtime/placement/placement_report.hpp"

#include <vector>

namespace troupe {

/// Nodes that have to choose a device, and among which.
struct free_choice {
  const std::vector<int>* open = nullptr; ///< places among the devices; null: the node is placed
  int set = -1;                           ///< nodes of the same set go where the first of them goes
};

/// What was expected of the best device and of the next best, in nanoseconds from the step's begin.
struct decision {
  double best_ns = 0, next_ns = 0;
  int next = -1; ///< among the devices; -1: there was no other
};

struct simulated_run {
  std::vector<int> chosen;              ///< by node id, like placement::chosen
  std::vector<double> begin_ns, end_ns; ///< by node id
  std::vector<decision> decisions;      ///< by node id; of nodes that were free
  double total_ns = 0;
  std::vector<link_use> links;
};

/// Runs the step with each node where `chosen` says, or for one that is free, where it ends first;
/// of devices that are as good, on the one that stands first. A device runs one node at a time, in
/// the order in which they become ready, those on the longest way to the end first. Feeds and
/// constants are everywhere from the start; a tensor goes once to each device. Takes time
/// proportional to nodes times devices, and memory to their sum and to what travels.
simulated_run simulate(const graph& of, const device_list& devices, const placing& how,
                       std::vector<int> chosen, const std::vector<free_choice>& free = {});

} // namespace troupe
