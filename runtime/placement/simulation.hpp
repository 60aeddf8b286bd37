// Simulates a step: estimates when each node begins and ends, and chooses the best device for nodes
// without a fixed one (white paper 3.2.1).
#pragma once
#include "troupe/runtime/placement/place.hpp"
#include "troupe/runtime/placement/placement_report.hpp"

#include <vector>

namespace troupe {

/// The devices among which a node has to choose.
struct free_choice {
  const std::vector<int>* candidates = nullptr; ///< indices of devices; null: the node is placed
  int set = -1;                                 ///< all nodes of a set get the device of the first
};

/// The expected end on the best device and on the next best, in nanoseconds from the step's begin.
struct decision {
  double best_ns = 0, next_ns = 0;
  int next = -1; ///< index of the next best device; -1: there was no other
};

struct simulated_run {
  std::vector<int> chosen;              ///< by node id, like placement::chosen
  std::vector<double> begin_ns, end_ns; ///< by node id
  std::vector<decision> decisions;      ///< by node id; of nodes with a choice
  double total_ns = 0;
  std::vector<link_use> links;
};

/// Runs each node on the device in `chosen`, or for a node with a choice, on the device where it
/// ends first; ties go to the first of these devices. A device runs one node at a time, in the
/// order in which they become ready, those on the longest path to the end first. Feeds and
/// constants are available everywhere from the start; a tensor is sent once to each device. Takes
/// time proportional to nodes times devices, and memory proportional to their sum and to the number
/// of transfers.
simulated_run simulate(const graph& placed, const device_list& devices,
                       const place_options& options, std::vector<int> chosen,
                       const std::vector<free_choice>& free = {});

} // namespace troupe
