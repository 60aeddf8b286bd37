// Where a user's graph begins: placeholders, constants, variables, scopes, gradients.
#pragma once
#include "troupe/api/device_functions.hpp"
#include "troupe/api/operand.hpp"
#include "troupe/runtime/autodiff/gradient.hpp"
#include "troupe/runtime/autodiff/gradient_options.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/f32_transfer.hpp"

#include <span>

namespace troupe {

/// Ends a scope when it goes out of scope itself, and with it those that began in it.
class [[nodiscard]] TROUPE_API graph_scope {
public:
  enum class kind : uint8_t { name, device, controls, transfer, recompute };

  graph_scope(graph& of, kind what) noexcept; ///< of the one that was begun last
  graph_scope(const graph_scope&) = delete;
  graph_scope& operator=(const graph_scope&) = delete;
  ~graph_scope();

private:
  graph& of_;
  kind what_;
  size_t depth_ = 0;
};

/// A graph over the library's ops. Functions that add nodes remember the line that calls them, for
/// error texts, and throw troupe::error at that line when something does not fit. Nodes get the
/// op's name, made unique, unless they are given one. Not thread-safe while it grows; must outlive
/// its edges, but not the sessions that run it.
class TROUPE_API graph_builder : public graph {
public:
  using location = std::source_location;

  graph_builder();
  /// Uses other ops than the library's; `ops` must outlive the graph.
  explicit graph_builder(const registry& ops) : graph(ops) {}

  /// Adds a node whose value each run is fed. Unknown extents are -1; by default nothing is known.
  edge placeholder(dtype type, const partial_shape& dims = {}, std::string_view name = {},
                   location where = location::current());

  /// Adds a node with a fixed value: a number, a list of numbers, or a tensor.
  edge constant(operand value, std::string_view name = {}, location where = location::current());

  /// Adds a variable that has `initial`'s type and shape, and gets its value from it when its
  /// initializer runs. `initial` may be a number, a list, a tensor, or an edge such as random
  /// numbers; it must not read other variables, as initializers run in no particular order.
  variable_handle variable(operand initial, std::string_view name = {},
                           location where = location::current());

  /// Adds a variable without an initial value, to be assigned before it is read.
  variable_handle variable(dtype type, const partial_shape& dims, std::string_view name = {},
                           location where = location::current());

  /// The same with a variable of TensorFlow 2, a VarHandleOp: all that takes a variable takes
  /// either kind, but only this one can be written to a graph that TensorFlow 2 is to run.
  variable_handle resource_variable(operand initial, std::string_view name = {},
                                    location where = location::current());
  variable_handle resource_variable(dtype type, const partial_shape& dims,
                                    std::string_view name = {},
                                    location where = location::current());

  /// Adds a variable that is no part of the model, such as a counter: TensorFlow's local variable.
  /// It holds `initial` when its initializer has run, and zeros before that (in the memory of a
  /// GPU, nothing). Savers leave it out, and training_run and replicas initialize it when they
  /// begin.
  variable_handle local_variable(const tensor& initial, std::string_view name = {},
                                 location where = location::current());

  /// Returns the node that initializes all variables made so far with an initial value, the local
  /// ones included.
  node* initializer(location where = location::current());
  /// Returns a node that initializes the local variables made so far, and no others.
  node* local_initializer(location where = location::current());

  /// Returns a node that runs when all the others have run.
  node* group(const std::vector<node*>& nodes, std::string_view name = {},
              location where = location::current());

  /// Prefixes the names of new nodes: `auto in = g.scope("layer1");`
  graph_scope scope(std::string_view name, location where = location::current());
  using graph::scope;
  /// Puts new nodes on a device, given in part or whole: `auto on = g.on("/job:ps/task:0");` Within
  /// another such scope, the parts that are not given are those of that one, as long as the same
  /// job and task are meant; "" is no device.
  graph_scope on(std::string_view device, location where = location::current());
  graph_scope on(const char* device, location where = location::current()) {
    return on(std::string_view{device}, where);
  }
  /// Puts each new node where a function says: `auto on = g.on(replica_devices({.ps_tasks = 2}));`
  /// Scopes nest: what the function leaves open is that of the scopes around, and those within come
  /// before it. Functions of branches and loops take no part.
  graph_scope on(device_function choose, location where = location::current());
  /// Puts new nodes on the device of another, wherever that will be: `auto with =
  /// g.colocate_with(v);`
  graph_scope colocate_with(edge what, location where = location::current());
  /// Makes new nodes run after these: `auto later = g.after({update});`
  graph_scope after(std::vector<node*> nodes, location where = location::current());

  /// Says how floats of new nodes travel to other tasks, whatever the session says of others:
  /// `auto shorter = g.transfer(f32_transfer::rounded);` It counts where a value is made, also that
  /// of a variable; inner scopes come first. Gradients are new nodes of their own, and all members
  /// of a collective operation must agree. Functions of branches and loops take no part.
  graph_scope transfer(f32_transfer how);

  /// Makes gradients compute the values of new nodes again instead of keeping them: less memory for
  /// more time. Each scope is a part of its own, which is computed again as a whole when its
  /// gradients are; what it takes is kept. Scopes within one are part of it.
  ///
  ///     for (auto& layers : blocks) {
  ///       auto again = g.recompute();
  ///       x = layers(x);
  ///     }
  graph_scope recompute();

  /// Returns d(sum of ys)/dx for each x; an edge to nothing for an x on which no y depends.
  /// Throws, naming the node, where an op on the way has no gradient. The options say where to
  /// stop, and what the gradients of some nodes or ops are instead:
  ///
  ///     auto straight_through = [](gradient_context& at) { return edges{at.output_gradient(0)}; };
  ///     g.gradients(loss, {w}, {.stop = {target}, .of_ops = {{"Round", straight_through}}});
  std::vector<edge> gradients(const std::vector<edge>& ys, const std::vector<edge>& xs,
                              const gradient_options& options = {},
                              location where = location::current());
  std::vector<edge> gradients(edge y, const std::vector<edge>& xs,
                              const gradient_options& options = {},
                              location where = location::current()) {
    return gradients(std::vector{y}, xs, options, where);
  }

  /// What scopes say of a node that is about to be added, and of one that was.
  void choose_device(node_spec& of, const op_def& op) const;
  void choose_transfer(node& added) const;

private:
  friend class graph_scope;
  detail::device_scopes device_scopes_;
  std::vector<f32_transfer> transfers_;
  node* initializer_ = nullptr;
  size_t initialized_ = 0; // variables that initializer_ knows
};

namespace detail {

// What graph_builder's functions do, for graphs of which only the interface is known. They throw
// troupe::error.

/// A node that stands for a variable. Its op is VariableV2 or VarHandleOp, and the attributes are
/// those that differ from the defaults.
struct variable_spec {
  bool by_handle = false;
  attr_map attrs = {};
};
TROUPE_API variable_handle add_variable(graph& in, operand initial, std::string_view name,
                                        std::source_location where, const variable_spec& like = {});
/// Whether the variable is one of TensorFlow 2.
TROUPE_API bool is_by_handle(edge variable);
/// Whether the node is a variable that graph_builder::local_variable() or its like has made.
TROUPE_API bool is_local_variable(const node& at);
/// The variables of the model: of all that outlive steps, those that are not local.
TROUPE_API std::vector<edge> model_variables(const graph& in);
/// The local variables that have an initializer.
std::vector<edge> local_variables(const graph& in);
/// Those initializers.
std::vector<node*> local_initializers(const graph& in);
/// What scopes say of a node that was added by other ways than the functions here.
void choose_transfer(node& added);
TROUPE_API node* add_group(graph& in, const std::vector<node*>& nodes, std::string_view name,
                           std::source_location where);
/// With the parts that the graph marks for it computed again.
TROUPE_API std::vector<edge> add_gradients(graph& in, const std::vector<edge>& ys,
                                           const std::vector<edge>& xs,
                                           const gradient_options& options,
                                           std::source_location where);

} // namespace detail

} // namespace troupe
