// The user's description of a computation: nodes that run ops, and edges that carry tensors.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/graph/op.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <source_location>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace troupe {

class graph;
class registry;
class rewriter;

/// An output of a node, or no output ("an empty edge"). Valid as long as its graph.
/// Comparisons and other operators of edges build nodes (api/operators.hpp), whose values are known
/// only when a step runs. is_same_edge() compares edges themselves.
struct TROUPE_API edge {
  troupe::node* node = nullptr;
  int index = 0;

  bool is_empty() const noexcept { return node == nullptr; }
  /// Returns whether it is an edge to an output. `if (x)` does not test the value.
  explicit operator bool() const noexcept { return node != nullptr; }
  dtype type() const;                ///< throws troupe::error for an empty edge
  const partial_shape& dims() const; ///< the known part of the shape; throws likewise
  std::string name() const;          ///< "w", or "split:1" for outputs after the first
  bool exists() const noexcept;      ///< whether the node has such an output
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const edge& source);

namespace detail {
struct edge_identity {
  constexpr bool operator()(const edge& a, const edge& b) const noexcept {
    return a.node == b.node && a.index == b.index;
  }
};
} // namespace detail

/// Returns whether two edges are the same output of the same node, or both to nothing. A function
/// object, so that algorithms accept it: `std::ranges::equal(feeds, others, is_same_edge)`.
inline constexpr detail::edge_identity is_same_edge{};

/// Returns the position of an edge in a range, or its end.
template <class Edges>
auto find_edge(Edges& range, const edge& wanted) {
  return std::ranges::find_if(
      range, [&](const edge& candidate) { return is_same_edge(candidate, wanted); });
}

/// Returns whether a range contains an edge.
inline bool contains_edge(std::span<const edge> range, const edge& wanted) noexcept {
  return find_edge(range, wanted) != range.end();
}

/// The arguments for adding a node.
struct node_spec {
  std::string op;
  /// The name, which must be unused in the current scope. Empty: the op's name, made unique.
  std::string name = {};
  std::vector<edge> inputs = {}; ///< with lists of tensors flattened
  attr_map attrs = {};           ///< the attributes that cannot be deduced from the inputs
  std::vector<node*> controls = {};
  std::string device = {}; ///< such as "/job:ps/task:0", "/cpu:0"; empty: the scope's device
  std::source_location where = std::source_location::current();
};

/// A node. Immutable after it is added, except for control inputs and graph::widen().
class TROUPE_API node {
public:
  int id() const noexcept { return id_; } ///< the position in the graph, in the order of adding
  size_t index() const noexcept { return static_cast<size_t>(id_); } ///< id() as an index
  const std::string& name() const noexcept { return name_; }
  const op_def& op() const noexcept { return *op_; }
  const attr_map& attrs() const noexcept { return attrs_; }
  const std::vector<edge>& inputs() const noexcept { return inputs_; }
  const std::vector<node*>& controls() const noexcept { return controls_; }
  const std::string& device() const noexcept { return device_; }
  const std::source_location& where() const noexcept { return where_; }
  troupe::graph& graph() const noexcept { return *graph_; }

  int outputs() const noexcept { return static_cast<int>(types_.size()); }
  // The functions below throw troupe::error for an output or input that the node does not have.
  dtype output_type(int i) const { return types_[output_index(i)]; }
  const partial_shape& output_shape(int i) const {
    return shapes_[detail::checked_index(name_, "output", i, shapes_.size())];
  }
  bool output_is_ref(int i) const;
  bool input_is_ref(int i) const; ///< whether the op takes the variable, queue or table itself
  const port& input_port(int i) const { return *input_ports_[input_index(i)]; }

  edge output(int i) { return {this, i}; } ///< see edge::exists()
  /// Throws troupe::error if the node has no attribute of that name and kind.
  template <class T>
  const T& attr(std::string_view attr_name) const {
    return troupe::attr<T>(attrs_, attr_name);
  }

  /// Returns the description used in errors: `Softmax 'net/probs' (model.cpp:41)`.
  std::string description() const;

private:
  friend class graph;
  friend class rewriter;
  size_t output_index(int i) const {
    return detail::checked_index(name_, "output", i, types_.size());
  }
  size_t input_index(int i) const {
    return detail::checked_index(name_, "input", i, input_ports_.size());
  }

  int id_ = 0;
  std::string name_;
  const op_def* op_ = nullptr;
  attr_map attrs_;
  std::vector<edge> inputs_;
  std::vector<node*> controls_;
  std::string device_;
  std::source_location where_;
  std::string where_text_; // where_ as text, for a node that came from another process
  troupe::graph* graph_ = nullptr;
  std::vector<dtype> types_;
  shapes shapes_;
  std::vector<const port*> input_ports_, output_ports_; // per tensor
};

/// A variable of a graph. Used as an edge, it stands for the variable's value; an op such as
/// assign() that takes a ref changes the variable itself. Copying copies the handle.
struct TROUPE_API variable_handle {
  edge ref;
  node* initializer = nullptr; ///< assigns the initial value; nullptr if there is none

  operator edge() const noexcept { return ref; }
  dtype type() const { return ref.type(); }
  const partial_shape& dims() const { return ref.dims(); }
  /// Throws troupe::error for a handle without a variable.
  const std::string& name() const;
};

/// A graph. It only grows: nodes are never removed or replaced, so edges stay valid. Not
/// thread-safe.
class TROUPE_API graph {
public:
  explicit graph(const registry& ops) : ops_(&ops), id_(next_version()) {}
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  virtual ~graph() = default;

  /// Checks the node against its op's definition and deduces attributes, types and shapes. Random
  /// ops get their seeds, see set_random_seed().
  result<node*> add(node_spec spec);

  /// Like add(), but places the node before a node of this graph, so that this node can use it as
  /// an input.
  result<node*> add_before(node& later, node_spec spec);
  /// Replaces the functions of a node and appends inputs and, with them, outputs. The existing
  /// inputs and outputs keep their positions. `attrs` has the functions and the attributes that
  /// cannot be deduced from them.
  status widen(node& target, const std::vector<edge>& new_inputs, attr_map attrs);

  /// Copies a node of another graph with the same registry, without checking it again.
  node* add_copy(const node& source, std::vector<edge> inputs, std::vector<node*> controls);
  /// Copies it under another name, which must be unused.
  node* add_copy(const node& source, std::string name, std::vector<edge> inputs,
                 std::vector<node*> controls);

  /// Orders two nodes: in every step that runs both, `after` runs after `before`.
  status add_control(node& before, node& after);

  node* find(std::string_view name) const noexcept;
  /// Parses "name" or "name:1". Fails with not_found and proposes names that exist.
  result<edge> find_edge(std::string_view name) const;
  std::span<const std::unique_ptr<node>> nodes() const noexcept { return nodes_; }
  const registry& ops() const noexcept { return *ops_; }
  uint64_t id() const noexcept { return id_; } ///< unique among all graphs of this process
  /// Changes with each change of the graph, to a number that is unique in this process.
  uint64_t version() const noexcept { return version_; }

  /// Applies to new nodes until the matching pop. Scope names are made unique among scopes. The end
  /// of a scope also ends the scopes that began in it: see depth().
  void push_scope(std::string_view name);
  /// Throws troupe::error if no scope of its kind is open; so do the pops below.
  void pop_scope();
  void push_device(std::string device);
  void pop_device();
  void push_controls(std::vector<node*> before);
  void pop_controls();
  enum class scope_kind : uint8_t { name, device, controls };
  size_t depth(scope_kind kind) const noexcept;                ///< the number of open scopes
  const std::string& scope() const noexcept { return scope_; } ///< "layer1/" or ""

  /// Until the matching end, nodes are added to the body of a function (function.hpp).
  void begin_function(graph& body);
  void end_function() noexcept { inner_ = nullptr; }
  /// Returns the innermost function that is being built within this graph, or this graph.
  graph& innermost() noexcept { return inner_ ? inner_->innermost() : *this; }
  /// Returns the edge, or the argument that stands for it if it belongs to a graph around this
  /// function.
  result<edge> localize(edge source);

  /// The variables that builders have added, in the order of adding.
  std::span<const variable_handle> variables() const noexcept { return variables_; }
  void record_variable(const variable_handle& added) { variables_.push_back(added); }

  /// Makes random numbers reproducible, for random ops that are added afterwards and have no seed
  /// of their own (seed and seed2 are 0). Each op gets this seed, and as seed2 the number of nodes
  /// before it. So each op draws different numbers, and a graph that is built in the same way draws
  /// the same numbers again, in any session. Random initial values and dropout are such ops, too.
  void set_random_seed(int64_t seed) noexcept { random_seed_ = seed; }

  /// Gradients recompute the nodes that are added until the matching end, as one part. Nested parts
  /// belong to the outer part.
  void begin_recompute();
  void end_recompute() noexcept;
  std::vector<std::vector<node*>> recomputed_parts() const;

  /// For code that builds many nodes, such as gradients: records the first error and returns an
  /// empty edge. The caller of that code gets the error from take_error().
  edge add_or_record_error(node_spec spec);
  void record_error(status error);
  status take_error() { return std::exchange(recorded_error_, {}); }

  /// Sets the source location of a node from another process, for its description.
  void set_origin(node& target, std::string_view where);
  friend class node;
  friend class rewriter; // changes the graphs that steps own

  /// Returns whether the node belongs to this graph or to a graph around this function.
  virtual bool is_in_scope(const node& target) const noexcept;

protected:
  /// Converts an edge of another graph into an edge of this graph, if possible.
  virtual result<edge> import_edge(edge source);
  /// Makes this whole function run after a node of a graph around it.
  virtual status run_after(node& before);
  /// For a function that is being built: returns whether a node that is added to the graph around
  /// it stays there. May change the node.
  virtual bool keeps_in_outer_graph(node_spec&) { return false; }
  class node_maker;
  /// Adds to this graph even while a function is being built within it.
  result<node*> add_here(node_spec spec);

private:
  static uint64_t next_version();
  void choose_seeds(node_spec& spec) const;
  std::string unique(const std::string& name) const;
  result<std::string> name_for(const node_spec& spec) const;

  const registry* ops_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::unordered_map<std::string, node*> by_name_;
  mutable std::unordered_map<std::string, int> next_suffix_;
  std::set<std::string, std::less<>> scope_names_;
  std::vector<std::string> scopes_, devices_;
  std::vector<std::vector<node*>> control_scopes_;
  std::string scope_;
  std::vector<variable_handle> variables_;
  std::optional<int64_t> random_seed_;
  int64_t first_seed2_ = 0;     // functions use a range far from that of the graph around them
  int64_t functions_begun_ = 0; // within this graph
  struct id_range {
    size_t first, end;
  };
  std::vector<id_range> recomputed_; // the last range is open while open_recomputes_ > 0
  int open_recomputes_ = 0;
  graph* inner_ = nullptr; // the function that is being built
  uint64_t version_ = 0;
  uint64_t id_;
  status recorded_error_;
};

/// Returns the error with the node's description before its text, and with the node as its origin.
TROUPE_API status with_node_context(const node& failed_node, status reason);

/// Prints a line for each node: `sum = Add(x, split:1, ^init) f32[2,3]`.
TROUPE_API std::string describe(const graph& printed);

/// Returns the value of an edge if it is known while the graph is built, or nullptr.
TROUPE_API const tensor* constant_value(edge source) noexcept;

/// Follows a ref edge back to the node of its variable, queue or table.
TROUPE_API const node* resource_behind(edge ref) noexcept;

/// Orders the nodes so that each comes after its inputs and controls. For a cycle, fails with the
/// names on it.
TROUPE_API result<std::vector<node*>> topological_order(const graph& source);

} // namespace troupe
