// Measured times and memory of nodes.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace troupe {

struct node_time {
  std::string node = {}; ///< the node's name
  std::string device = {};
  uint64_t runs = 0; ///< number of measured runs
  double mean_ns = 0;
  double mean_bytes = 0; ///< of new memory
};

/// Means over all steps that were added, separately for each graph, since nodes of different graphs
/// may have the same name. Any thread may call.
class TROUPE_API node_times {
public:
  static constexpr uint64_t any_graph = 0;

  /// `graph` is the graph::id() of the graph that the step was prepared from. The times of the
  /// youngest graphs are kept.
  void add(const step_statistics& step, uint64_t graph = any_graph);
  /// Adds means that were measured elsewhere, in a graph whose id is unknown here, weighted by
  /// their number of runs.
  void add(const node_time& measured);
  /// Returns the times of a node of that graph on the device where it ran last; else those that
  /// were measured elsewhere under its name.
  std::optional<node_time> find(std::string_view node, uint64_t graph = any_graph) const;
  /// Copies the times that find() returns for that graph to `to`, as times of any graph.
  void copy_to(node_times& to, uint64_t graph) const;
  /// Returns times by name. Where several graphs have a node of that name, the times with the most
  /// runs.
  std::vector<node_time> list() const;
  bool empty() const;

private:
  using by_name = std::map<std::string, node_time, std::less<>>;

  static void add(const node_time& measured, by_name& times);

  mutable std::mutex mutex_;
  std::map<uint64_t, by_name> times_; // by graph
};

} // namespace troupe
