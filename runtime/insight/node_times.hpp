// How long nodes took in the steps that were measured.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/step_statistics.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace troupe {

struct node_time {
  std::string node = {}; ///< its name
  std::string device = {};
  uint64_t runs = 0; ///< that were measured
  double mean_ns = 0;
  double mean_bytes = 0; ///< of new memory
};

/// Means over all steps that were added, for each graph on its own: nodes of different graphs have
/// the same names, and nothing else in common. Any thread may call.
class TROUPE_API node_times {
public:
  static constexpr uint64_t any_graph = 0;

  /// `graph` is the graph::id() of what the step was prepared from. Of the graphs that were
  /// measured, the youngest are remembered.
  void add(const step_statistics& step, uint64_t graph = any_graph);
  /// Means over runs that somebody else has measured, in a graph that has another number here,
  /// weighed by their number.
  void add(const node_time& known);
  /// What is known of a node of that graph, on whatever device it ran last; else what is known of
  /// its name from somebody else.
  std::optional<node_time> find(std::string_view node, uint64_t graph = any_graph) const;
  /// Adds what find() tells of that graph to another, where it is any graph's.
  void copy_to(node_times& to, uint64_t graph) const;
  /// By name. Where several graphs have a node of that name, the one that was measured most often.
  std::vector<node_time> all() const;
  bool empty() const;

private:
  using by_name = std::map<std::string, node_time, std::less<>>;

  static void add(const node_time& known, by_name& to);

  mutable std::mutex mutex_;
  std::map<uint64_t, by_name> times_; // by graph
};

} // namespace troupe
