// Reads and restores the state that a graph has in addition to its variables: queues, readers and
// tables. Part of the saver (saver.hpp).
#pragma once
#include "troupe/api/graph_builder.hpp"

#include <set>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// A value that a checkpoint has in addition to the variables, and the nodes that restore it.
struct saved_value {
  std::string name;
  edge value, placeholder;
  node* restored = nullptr;
  bool may_be_missing = false; ///< checkpoints without it can be restored
};

/// Adds nodes that read and restore the content of each queue, reader and mutable table that the
/// graph has so far. Queues in the memory of GPUs are left out.
std::vector<saved_value> add_saved_state(graph_builder& to, std::source_location where);

/// State of the graph that checkpoints do not have, as texts for users: "queue 'batch/FIFOQueue'".
/// Excludes variables, and resources without state that must be kept (locks, constant tables).
struct unsaved_state {
  std::set<std::string> lost;    ///< missing after a restart
  std::set<std::string> of_step; ///< belongs to a single step: accumulators, clocks
};
unsaved_state find_unsaved_state(const graph& model, const std::vector<saved_value>& kept);

} // namespace troupe
