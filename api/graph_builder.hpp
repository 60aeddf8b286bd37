// Builds a user's graph: placeholders, constants, variables, scopes, gradients.
#pragma once
#include "troupe/api/device_functions.hpp"
#include "troupe/api/operand.hpp"
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/f32_transfer.hpp"

#include <span>

namespace troupe {

/// Ends a scope in its destructor, and with it all scopes that began inside.
class [[nodiscard]] TROUPE_API graph_scope {
public:
  enum class kind : uint8_t { name, device, controls, transfer, recompute };

  graph_scope(graph& owner, kind scope_kind) noexcept; ///< for the scope that was opened last
  graph_scope(const graph_scope&) = delete;
  graph_scope& operator=(const graph_scope&) = delete;
  ~graph_scope();

private:
  graph& graph_;
  kind kind_;
  size_t depth_ = 0;
};

/// A graph over the library's ops. Functions that add nodes record the line of their call for error
/// texts. They throw troupe::error with that line for invalid arguments. Nodes get the op's name,
/// made unique, unless a name is given. Not thread-safe while it grows. It must outlive its edges,
/// but not the sessions that run it.
class TROUPE_API graph_builder : public graph {
public:
  using location = std::source_location;

  graph_builder();
  /// Uses other ops than the library's. `ops` must outlive the graph.
  explicit graph_builder(const registry& ops) : graph(ops) {}

  /// Adds a node whose value is fed in each run. Unknown extents are -1. By default the shape is
  /// unknown.
  edge placeholder(dtype type, const partial_shape& dims = {}, std::string_view name = {},
                   location where = location::current());

  /// Adds a node with a fixed value: a number, a list of numbers, or a tensor.
  edge constant(operand value, std::string_view name = {}, location where = location::current());

  /// Adds a variable with the type, the shape and the value of `initial`, which it gets when its
  /// initializer runs. `initial` may be a number, a list, a tensor, or an edge such as random
  /// numbers. It must not read other variables, because initializers run in no particular order.
  variable_handle variable(operand initial, std::string_view name = {},
                           location where = location::current());

  /// Adds a variable without an initial value. It must be assigned before it is read.
  variable_handle variable(dtype type, const partial_shape& dims, std::string_view name = {},
                           location where = location::current());

  /// Adds a variable of TensorFlow 2's kind, a VarHandleOp. All functions that take a variable take
  /// either kind, but only this kind can be written to a graph that TensorFlow 2 runs.
  variable_handle resource_variable(operand initial, std::string_view name = {},
                                    location where = location::current());
  variable_handle resource_variable(dtype type, const partial_shape& dims,
                                    std::string_view name = {},
                                    location where = location::current());

  /// Adds a variable that is not part of the model, such as a counter: TensorFlow's local variable.
  /// It holds `initial` after its initializer has run, and zeros before (in the memory of a GPU,
  /// nothing). Savers leave it out. training_run and replicas initialize it when they begin.
  variable_handle local_variable(const tensor& initial, std::string_view name = {},
                                 location where = location::current());

  /// Returns the node that initializes all variables created so far that have an initial value,
  /// including local variables.
  node* initializer(location where = location::current());
  /// Returns a node that initializes only the local variables created so far.
  node* local_initializer(location where = location::current());

  /// Returns a node that runs after all the given nodes.
  node* group(const std::vector<node*>& nodes, std::string_view name = {},
              location where = location::current());

  /// Prefixes the names of new nodes: `auto in = g.scope("layer1");`
  graph_scope scope(std::string_view name, location where = location::current());
  using graph::scope;
  /// Puts new nodes on a device, given by a full or partial name: `auto on =
  /// g.on("/job:ps/task:0");` Parts that are not given come from the enclosing scope, if both mean
  /// the same job and task. "" removes the device.
  graph_scope on(std::string_view device, location where = location::current());
  graph_scope on(const char* device, location where = location::current()) {
    return on(std::string_view{device}, where);
  }
  /// Puts each new node on the device that a function chooses: `auto on =
  /// g.on(replica_devices({.ps_tasks = 2}));` Parts that the function leaves open come from the
  /// enclosing scopes, and inner scopes take precedence. Nodes in functions of branches and loops
  /// are not affected.
  graph_scope on(device_function choose, location where = location::current());
  /// Puts new nodes on the device of another node: `auto with = g.colocate_with(v);`
  graph_scope colocate_with(edge neighbor, location where = location::current());
  /// Makes new nodes run after these: `auto later = g.after({update});`
  graph_scope after(std::vector<node*> nodes, location where = location::current());

  /// Sets the encoding in which floats of new nodes travel to other tasks, which overrides the
  /// session's: `auto shorter = g.transfer(f32_transfer::rounded);` The scope of the node that
  /// produces a value applies, also for a variable. Inner scopes take precedence. Gradients are new
  /// nodes, so the scope of their construction applies. All members of a collective operation must
  /// agree. Nodes in functions of branches and loops are not affected.
  graph_scope transfer(f32_transfer encoding);

  /// Makes gradients recompute the values of new nodes instead of keeping them: less memory for
  /// more time. Each scope is one segment, which is recomputed as a whole when its gradients are
  /// computed. The inputs of the segment are kept. Nested scopes are part of the outer segment.
  ///
  ///     for (auto& layers : blocks) {
  ///       auto again = g.recompute();
  ///       x = layers(x);
  ///     }
  graph_scope recompute();

  /// Returns d(sum of ys)/dx for each x, or an empty edge for an x on which no y depends. Throws,
  /// naming the node, if an op between x and y has no gradient. The options name edges at which to
  /// stop, and replace the gradients of some nodes or ops:
  ///
  ///     auto straight_through = [](gradient_context& at) { return edges{at.output_gradient(0)}; };
  ///     g.gradients(loss, {w}, {.stop_edges = {target}, .of_ops = {{"Round", straight_through}}});
  std::vector<edge> gradients(const std::vector<edge>& ys, const std::vector<edge>& xs,
                              const gradient_options& options = {},
                              location where = location::current());
  std::vector<edge> gradients(edge y, const std::vector<edge>& xs,
                              const gradient_options& options = {},
                              location where = location::current()) {
    return gradients(std::vector{y}, xs, options, where);
  }

  /// Applies the device scopes to a node that is about to be added.
  void choose_device(node_spec& spec, const op_def& op) const;
  /// Applies the transfer scopes to a node that was added.
  void choose_transfer(node& added) const;

private:
  friend class graph_scope;
  detail::device_scopes device_scopes_;
  std::vector<f32_transfer> transfers_;
  node* initializer_ = nullptr;
  size_t initialized_ = 0; // number of variables that initializer_ covers
};

namespace detail {

// Implementations of graph_builder's functions for any graph. They throw troupe::error.

/// A node for a variable. Its op is VariableV2 or VarHandleOp. `attrs` has the attributes that
/// differ from the defaults.
struct variable_spec {
  bool use_resource = false;
  attr_map attrs = {};
};
TROUPE_API variable_handle add_variable(graph& in, operand initial, std::string_view name,
                                        std::source_location where, const variable_spec& spec = {});
/// Returns true for a variable of TensorFlow 2's kind.
TROUPE_API bool is_resource_variable(edge variable);
/// Returns true for a variable that graph_builder::local_variable() or an equivalent has created.
TROUPE_API bool is_local_variable(const node& variable);
/// Returns the variables of the model: all that outlive steps, except local ones.
TROUPE_API std::vector<edge> model_variables(const graph& in);
/// Returns the local variables that have an initializer.
std::vector<edge> local_variables(const graph& in);
/// Returns the initializers of the local variables.
std::vector<node*> local_initializers(const graph& in);
/// Applies the transfer scopes to a node that was added by other functions than those of
/// graph_builder.
void choose_transfer(node& added);
TROUPE_API node* add_group(graph& in, const std::vector<node*>& nodes, std::string_view name,
                           std::source_location where);
/// Returns gradients, with the segments that the graph marks for it recomputed.
TROUPE_API std::vector<edge> add_gradients(graph& in, const std::vector<edge>& ys,
                                           const std::vector<edge>& xs,
                                           const gradient_options& options,
                                           std::source_location where);

} // namespace detail

} // namespace troupe
