// What a graph has beside its variables, and what of it checkpoints can have. The saver's
// (saver.hpp).
#pragma once
#include "troupe/api/graph_builder.hpp"

#include <set>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// A value that a checkpoint has beside the variables, and how it is given back.
struct kept_value {
  std::string name;
  edge value, placeholder;
  node* restored = nullptr;
  bool may_be_missing = false; ///< checkpoints that were written without it can be restored
};

/// Adds what reads and gives back the content of each queue, reader and mutable table that the
/// graph has so far. Queues in the memory of GPUs are left out.
std::vector<kept_value> add_kept_state(graph_builder& to, std::source_location where);

/// The state of the graph that none of these values is read from, as people know it: "queue
/// 'batch/FIFOQueue'". Not variables, nor what holds nothing or is made again (locks, constant
/// tables).
struct unkept_state {
  std::set<std::string> lost;    ///< what a run that goes on may miss
  std::set<std::string> of_step; ///< what belongs to a step that is over then: accumulators, clocks
};
unkept_state state_not_kept(const graph& of, const std::vector<kept_value>& kept);

} // namespace troupe
