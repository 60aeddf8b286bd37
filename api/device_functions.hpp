// Functions that choose a device for each new node, and the scopes in which they apply (white
// paper 4.3).
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <functional>
#include <string>
#include <vector>

namespace troupe {

/// Called before each node that operators, ops and builders add in its scope, in the order of
/// adding. Returns a full or partial device name, or an empty string. It may have state.
using device_function = std::function<std::string(const node_spec& added, const op_def& op)>;

struct replica_devices_options {
  enum class spread : uint8_t {
    round_robin, ///< each variable goes to the next task
    by_bytes     ///< each variable goes to the task that has the fewest bytes so far
  };

  int ps_tasks = 1;
  std::string ps_job = "ps";
  std::string worker = "/job:worker"; ///< for all other nodes; may be "/job:worker/task:1"
  spread variables = spread::by_bytes;
};

/// Puts variables and tables on parameter server tasks, nodes that use a variable (its initializer,
/// an update) beside it, and all other nodes on the worker: TensorFlow's replica_device_setter.
/// Graphs that are built alike are spread alike. Throws for invalid options.
///
///     auto on = g.on(replica_devices({.ps_tasks = 2, .worker = "/job:worker/task:0"}));
TROUPE_API device_function replica_devices(
    replica_devices_options options, std::source_location where = std::source_location::current());

namespace detail {

/// The device scopes of a graph_builder. Scopes that are pushed to the graph's own stack directly
/// are independent of these, and hide those around them.
class TROUPE_API device_scopes {
public:
  /// Opens a scope for a device. Parts that `device` leaves open come from the enclosing scopes,
  /// but nothing of the task or the device kind if `device` names another job or task.
  void push(graph& owner, const device_name& device, std::string_view text);
  void push(graph& owner, device_function choose);
  void push(graph& owner, const node& neighbor);
  /// Removes ended scopes, until `depth` are left.
  void pop_to(size_t depth);

  /// Sets the device and the colocation group of a node that is about to be added to the graph.
  void apply(const graph& to, node_spec& spec, const op_def& op) const;

private:
  struct scope {
    size_t depth; // of the graph's stack, including this scope
    device_name device = {};
    bool resets = false; // "": no device
    device_function choose = {};
    const node* neighbor = nullptr; // nodes are colocated with it
  };

  // Index of the outermost scope of the nest that ends with the innermost one.
  size_t first_within(size_t depth) const;
  device_name fixed(size_t depth) const;

  std::vector<scope> scopes_;
};

} // namespace detail
} // namespace troupe
