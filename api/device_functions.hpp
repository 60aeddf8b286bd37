// Functions that give each new node its device, and the scopes in which they do so (white
// paper 4.3).
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Called for each node that operators, ops and builders add in its scope, before it is added, in
/// the order of adding; returns a device, in part or whole, or nothing. It may have a state.
using device_function = std::function<std::string(const node_spec& added, const op_def& op)>;

struct replica_devices_options {
  enum class spread : uint8_t {
    by_turns, ///< one variable after the other to the next task
    by_bytes  ///< each to the task that has the fewest bytes so far
  };

  int ps_tasks = 1;
  std::string ps_job = "ps";
  std::string worker = "/job:worker"; ///< for all that is no variable; may be "/job:worker/task:1"
  spread variables = spread::by_bytes;
};

/// Puts variables and tables on tasks that keep parameters, what takes one of them (its
/// initializer, an update) beside it, and all other nodes on the worker: TensorFlow's
/// replica_device_setter. Graphs that are built alike are spread alike. Throws for options that
/// make no sense.
///
///     auto on = g.on(replica_devices({.ps_tasks = 2, .worker = "/job:worker/task:0"}));
TROUPE_API device_function replica_devices(
    replica_devices_options options, std::source_location where = std::source_location::current());

namespace detail {

/// The scopes of a graph_builder that choose devices. Knows those that were begun with it; what
/// is pushed to the graph's own stack beside counts for itself, and hides those around it.
class TROUPE_API device_scopes {
public:
  /// A device within the one around: what is not said is that of the scopes around, but nothing of
  /// the task or the kind where another job or task is named.
  void push(graph& of, const device_name& within, std::string_view text);
  void push(graph& of, device_function choose);
  void push(graph& of, const node& beside);
  /// Scopes have ended, until so many are left.
  void pop_to(size_t depth);

  /// Gives what is to be added to the graph its device and its colocation group.
  void apply(const graph& to, node_spec& what, const op_def& op) const;

private:
  struct scope {
    size_t depth; // of the graph's stack, with it
    device_name device = {};
    bool resets = false; // "": no device
    device_function choose = {};
    const node* beside = nullptr;
  };

  // The first of those that lie within each other up to the innermost.
  size_t first_within(size_t depth) const;
  device_name fixed(size_t depth) const;

  std::vector<scope> scopes_;
};

} // namespace detail
} // namespace troupe
