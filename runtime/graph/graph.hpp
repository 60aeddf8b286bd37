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

/// One output of a node, or nothing. Valid as long as its graph. Comparisons and other operators of
/// edges are nodes (api/operators.hpp), known when a step runs: whether two edges are the same one
/// says is_same_edge().
struct TROUPE_API edge {
  troupe::node* node = nullptr;
  int index = 0;

  bool is_nothing() const noexcept { return node == nullptr; }
  /// Whether it is an edge to something: `if (x)` says nothing of the value.
  explicit operator bool() const noexcept { return node != nullptr; }
  dtype type() const;                ///< throws troupe::error for an edge to nothing
  const partial_shape& dims() const; ///< what is known of the shape; likewise
  std::string name() const;          ///< "w", or "split:1" for further outputs
  bool exists() const noexcept;      ///< whether the node has such an output
};

TROUPE_API std::ostream& operator<<(std::ostream& out, const edge& what);

namespace detail {
struct edge_identity {
  constexpr bool operator()(const edge& a, const edge& b) const noexcept {
    return a.node == b.node && a.index == b.index;
  }
};
} // namespace detail

/// Whether both are the same output of the same node, or both to nothing. An object, so that
/// algorithms take it: `std::ranges::equal(feeds, others, is_same_edge)`.
inline constexpr detail::edge_identity is_same_edge{};

/// Where an edge is among others; their end where it is not.
template <class Edges>
auto find_edge(Edges& all, const edge& wanted) {
  return std::ranges::find_if(all, [&](const edge& each) { return is_same_edge(each, wanted); });
}

/// Whether an edge is among others.
inline bool contains_edge(std::span<const edge> all, const edge& wanted) noexcept {
  return find_edge(all, wanted) != all.end();
}

/// What is needed to add a node.
struct node_spec {
  std::string op;
  /// Empty: the op's name, made unique. Given: must not be used yet in the current scope.
  std::string name = {};
  std::vector<edge> inputs = {}; ///< lists are flattened
  attr_map attrs = {};           ///< those that cannot be deduced from the inputs
  std::vector<node*> controls = {};
  std::string device = {}; ///< such as "/job:ps/task:0", "/cpu:0"; empty: the scope's
  std::source_location where = std::source_location::current();
};

/// Immutable once added, except for further control inputs, and for what graph::widen() adds.
class TROUPE_API node {
public:
  int id() const noexcept { return id_; } ///< its place in its graph, in the order of adding
  size_t index() const noexcept { return static_cast<size_t>(id_); } ///< the same, for vectors
  const std::string& name() const noexcept { return name_; }
  const op_def& op() const noexcept { return *op_; }
  const attr_map& attrs() const noexcept { return attrs_; }
  const std::vector<edge>& inputs() const noexcept { return inputs_; }
  const std::vector<node*>& controls() const noexcept { return controls_; }
  const std::string& device() const noexcept { return device_; }
  const std::source_location& where() const noexcept { return where_; }
  troupe::graph& graph() const noexcept { return *graph_; }

  int outputs() const noexcept { return static_cast<int>(types_.size()); }
  // These throw troupe::error for an output or input that the node does not have.
  dtype output_type(int i) const { return types_[output_place(i)]; }
  const partial_shape& output_shape(int i) const {
    return shapes_[detail::checked_index(name_, "output", i, shapes_.size())];
  }
  bool output_is_ref(int i) const;
  bool input_is_ref(int i) const; ///< whether the op wants the variable, queue or table itself
  const port& input_port(int i) const { return *input_ports_[input_place(i)]; }

  edge output(int i) { return {this, i}; } ///< see edge::exists()
  /// Throws troupe::error where the node has no such attribute, or one of another kind.
  template <class T>
  const T& attr(std::string_view attr_name) const {
    return troupe::attr<T>(attrs_, attr_name);
  }

  /// How errors call it: `Softmax 'net/probs' (model.cpp:41)`.
  std::string description() const;

private:
  friend class graph;
  friend class rewriter;
  size_t output_place(int i) const {
    return detail::checked_index(name_, "output", i, types_.size());
  }
  size_t input_place(int i) const {
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
  std::string where_text_; // of a node that came from another process
  troupe::graph* graph_ = nullptr;
  std::vector<dtype> types_;
  shapes shapes_;
  std::vector<const port*> input_ports_, output_ports_; // per tensor
};

/// A variable of a graph. Stands for its value in formulas, and for the variable itself where an op
/// such as assign() changes it. Copying copies the handle.
struct TROUPE_API variable_handle {
  edge ref;
  node* initializer = nullptr; ///< assigns the initial value; nullptr when there is none

  operator edge() const noexcept { return ref; }
  dtype type() const { return ref.type(); }
  const partial_shape& dims() const { return ref.dims(); }
  /// Throws troupe::error where there is no variable.
  const std::string& name() const;
};

/// Grows only: nodes are never removed or replaced, so that edges stay valid. Not thread-safe.
class TROUPE_API graph {
public:
  explicit graph(const registry& ops) : ops_(&ops), id_(next_version()) {}
  graph(const graph&) = delete;
  graph& operator=(const graph&) = delete;
  virtual ~graph() = default;

  /// Checks the node against its op's definition, deduces attributes, types and shapes. Ops that
  /// draw random numbers get their seeds, see set_random_seed().
  result<node*> add(node_spec spec);

  /// The same, in front of a node of this graph, which may then take what it gives.
  result<node*> add_before(node& later, node_spec spec);
  /// Gives a node that runs functions others, further inputs and so further outputs: those from
  /// before stay where they are. `attrs` are the functions, and what cannot be deduced from them.
  status widen(node& which, const std::vector<edge>& further, attr_map attrs);

  /// Adds a node like one of another graph over the same ops, without checking it again.
  node* add_copy(const node& like, std::vector<edge> inputs, std::vector<node*> controls);
  /// The same under another name, which must be free.
  node* add_copy(const node& like, std::string name, std::vector<edge> inputs,
                 std::vector<node*> controls);

  /// Makes `after` run only when `before` has run, in every step that runs both.
  status add_control(node& before, node& after);

  node* find(std::string_view name) const noexcept;
  /// Reads "name" or "name:1". Fails with not_found and proposes names that exist.
  result<edge> find_edge(std::string_view name) const;
  std::span<const std::unique_ptr<node>> nodes() const noexcept { return nodes_; }
  const registry& ops() const noexcept { return *ops_; }
  uint64_t id() const noexcept { return id_; } ///< no graph of this process ever had it
  /// Changes whenever the graph does, to a number that no graph of this process ever had.
  uint64_t version() const noexcept { return version_; }

  /// New nodes get these until the matching pop. Scope names are made unique among scopes.
  /// A scope may end before those that began in it, which then are over, too: see depth().
  void push_scope(std::string_view name);
  /// Throws troupe::error where no scope is open; so do those below.
  void pop_scope();
  void push_device(std::string device);
  void pop_device();
  void push_controls(std::vector<node*> before);
  void pop_controls();
  enum class scope_kind : uint8_t { name, device, controls };
  size_t depth(scope_kind of) const noexcept;                  ///< how many are open
  const std::string& scope() const noexcept { return scope_; } ///< "layer1/" or ""

  /// From here to the matching end, what is added becomes a part of a function (function.hpp).
  void begin_function(graph& body);
  void end_function() noexcept { inner_ = nullptr; }
  /// The function that is being built within this graph, or within that one; else this graph.
  graph& innermost() noexcept { return inner_ ? inner_->innermost() : *this; }
  /// The edge itself, or what stands for it here if it is one of a graph around this function.
  result<edge> own(edge from);

  /// The variables that a builder has made, in the order of adding.
  std::span<const variable_handle> variables() const noexcept { return variables_; }
  void note_variable(const variable_handle& made) { variables_.push_back(made); }

  /// Makes the random numbers of the graph repeat, for the random ops that are added from here on
  /// and get no seed of their own (seed and seed2 are 0): each gets this seed, and as seed2 the
  /// number of nodes before it. So each draws other numbers, and a graph that is built alike draws
  /// them again, in any session. Ops that are given a seed keep it. Random initial values and
  /// dropout are such ops, too.
  void set_random_seed(int64_t seed) noexcept { random_seed_ = seed; }

  /// What is added until the matching end is computed again by gradients, as one part; parts within
  /// a part belong to it.
  void begin_recompute();
  void end_recompute() noexcept;
  std::vector<std::vector<node*>> recomputed_parts() const;

  /// Code that builds many nodes, such as gradients, notes the first error here and goes on with an
  /// edge to nothing; who called it takes the error.
  edge add_or_note(node_spec spec);
  void note(status error);
  status take_note() { return std::exchange(noted_, {}); }

  /// Says where a node from another process was built, for its description.
  void set_origin(node& of, std::string_view where);
  friend class node;
  friend class rewriter; // changes the graphs that steps own

  /// Whether the node is of this graph, or of one around this function.
  virtual bool reaches(const node& what) const noexcept;

protected:
  /// Makes an edge of another graph one of this, where that can be.
  virtual result<edge> bring_in(edge from);
  /// Makes all of this function come after a node of a graph around it.
  virtual status come_after(node& before);
  /// Of a function that is being built: whether what is added to the graph around it stays there.
  /// May change what it is.
  virtual bool stays_around(node_spec&) { return false; }
  /// Adds to this graph though a function is being built within it.
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
  int64_t first_seed2_ = 0;     // those of functions are far from those of the graph around
  int64_t functions_begun_ = 0; // within this graph
  struct id_range {
    size_t first, end;
  };
  std::vector<id_range> recomputed_; // the last is open while there are open scopes
  int open_recomputes_ = 0;
  graph* inner_ = nullptr; // the function that is being built
  uint64_t version_ = 0;
  uint64_t id_;
  status noted_;
};

/// Returns the error with the node's description before it, and notes that it is about the node.
TROUPE_API status within(const node& which, status why);

/// Prints a line for each node, for people: `sum = Add(x, split:1, ^init) f32[2,3]`.
TROUPE_API std::string describe(const graph& of);

/// The value of an edge that is known while the graph is built, or nullptr.
TROUPE_API const tensor* constant_value(edge of) noexcept;

/// Follows a ref edge back to the node that stands for the variable, queue or table.
TROUPE_API const node* resource_behind(edge ref) noexcept;

/// Orders the nodes so that each comes after its inputs and controls. Fails with the names on the
/// way for a cycle.
TROUPE_API result<std::vector<node*>> topological_order(const graph& of);

} // namespace troupe
