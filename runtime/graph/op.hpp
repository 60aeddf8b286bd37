// The definition of an op, a constant that exists before any graph.
#pragma once
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/types/attr.hpp"

#include <array>
#include <concepts>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace troupe {

class gradient_context;
class infer_context;
class named_state;
class node;
class waitable_resource;
class simplify_context;
struct answer;
struct edge;
struct question;
template <class T>
class result;

/// A list of at most N items, usable in constant expressions.
template <class T, size_t N>
class inplace_vector {
public:
  constexpr inplace_vector() = default;
  constexpr inplace_vector(std::initializer_list<T> items) {
    for (const auto& item : items)
      items_[size_++] = item; // too many items do not compile in a constant
  }
  /// Throws std::out_of_range for more than N items.
  constexpr void push_back(const T& item) {
    items_.at(size_) = item;
    ++size_;
  }
  constexpr const T* begin() const { return items_.data(); }
  constexpr const T* end() const { return items_.data() + size_; }
  constexpr size_t size() const { return size_; }
  constexpr bool empty() const { return size_ == 0; }
  constexpr const T& operator[](size_t i) const {
    return i < size_ ? items_[i] : throw std::out_of_range{"inplace_vector: there is no such item"};
  }

private:
  std::array<T, N> items_{};
  size_t size_ = 0;
};

/// The kinds of state that outlive a step and have a name. A ref output of an op refers to one.
enum class resource : uint8_t {
  none,
  variable,
  table,
  queue,
  accumulator,
  barrier,
  stage,
  mutex,
  clock,
  reader,
  files
};

TROUPE_API std::string_view to_string(resource kind) noexcept; ///< "variable", "queue", "table"

/// Returns whether nodes wait for operations on it, which an actor runs.
constexpr bool has_operations(resource kind) noexcept { return kind >= resource::queue; }

/// An input or output of an op.
struct port {
  std::string_view name;
  /// The name of a type ("f32"), of a `type` attribute ("T"), or of a `types` attribute (a list of
  /// tensors, one of each type). Empty for a variable of any type.
  std::string_view type;
  /// The name of an integer attribute, the number of tensors of the type. Empty: exactly one
  /// tensor.
  std::string_view count = {};
  /// The port carries a variable, a queue or a table itself instead of a value (TensorFlow's Ref).
  bool ref = false;
  resource state_kind = resource::none; ///< the kind of state that a ref refers to
  /// Kernels of every device read this input from host memory: a shape, an axis, a count.
  bool on_host = false;
  /// TensorFlow carries it as a resource. An input that is not also a ref takes the value behind
  /// the handle, which must be a variable's.
  bool handle = false;
};

constexpr port ref(std::string_view name, std::string_view type, resource to = resource::variable) {
  return {name, type, {}, true, to};
}

/// A variable as graphs of TensorFlow 2 pass it: a ref. An empty `type` means any type.
constexpr port handle(std::string_view name, std::string_view type) {
  return {name, type, {}, true, resource::variable, false, true};
}

/// The value of a variable given by its handle. The variable is read where the node runs.
constexpr port behind_handle(std::string_view name, std::string_view type) {
  return {name, type, {}, false, resource::none, false, true};
}

/// An input whose elements the kernel reads before it can launch work, such as a shape.
constexpr port on_host(std::string_view name, std::string_view type, std::string_view count = {}) {
  return {name, type, count, false, resource::none, true};
}

/// The minimum of an integer attribute, which then has no default.
struct at_least {
  int64_t value;
};

/// Declares an attribute. The constructor determines the kind and whether there is a default.
struct attr_def {
  using default_value =
      std::variant<std::monostate, bool, int64_t, double, std::string_view, dtype>;

  constexpr attr_def() = default;
  /// A type from the set. It is deduced from the inputs if a port names the attribute.
  constexpr attr_def(std::string_view attr_name, dtype_set types)
      : name(attr_name), kind(attr_kind::type), allowed(types) {}
  constexpr attr_def(std::string_view attr_name, dtype_set types, dtype value)
      : name(attr_name), kind(attr_kind::type), allowed(types), preset(value) {}
  constexpr attr_def(std::string_view attr_name, std::same_as<bool> auto value)
      : name(attr_name), kind(attr_kind::boolean), preset(value) {}
  constexpr attr_def(std::string_view attr_name, std::same_as<int> auto value)
      : name(attr_name), kind(attr_kind::integer), preset(int64_t{value}) {}
  constexpr attr_def(std::string_view attr_name, std::same_as<double> auto value)
      : name(attr_name), kind(attr_kind::real), preset(value) {}
  constexpr attr_def(std::string_view attr_name, const char* value)
      : name(attr_name), kind(attr_kind::text), preset(std::string_view{value}) {}
  constexpr attr_def(std::string_view attr_name, at_least bound)
      : name(attr_name), kind(attr_kind::integer), minimum(bound.value) {}
  /// A required list of types from the set.
  constexpr attr_def(std::string_view attr_name, attr_kind value_kind, dtype_set types)
      : name(attr_name), kind(value_kind), allowed(types) {}
  /// Required, unless `optional`: then the default is false, 0, "", or an empty list, and for a
  /// shape the unknown shape.
  constexpr attr_def(std::string_view attr_name, attr_kind value_kind, bool optional_ = false)
      : name(attr_name), kind(value_kind), optional(optional_) {}

  constexpr bool has_default() const { return optional || preset.index() != 0; }

  std::string_view name;
  attr_kind kind = attr_kind::boolean;
  dtype_set allowed = any_type;
  default_value preset;
  int64_t minimum = INT64_MIN;
  bool optional = false;
};

/// Returns the default value; a value-initialized one of its kind unless has_default().
TROUPE_API attr_value default_of(const attr_def& attr);

/// The effects of running an op besides computing its outputs. Passes read them instead of op
/// names.
enum class effect : uint32_t {
  none = 0,

  // Purity.
  stateful = 1u << 0,    ///< reads or changes state: two runs may differ; never folded or merged
  random = 1u << 1,      ///< draws random numbers
  blocking = 1u << 2,    ///< may wait for another step: ends its region
  must_be_fed = 1u << 4, ///< has a value only if it is fed

  // Aliasing.
  /// May write its output over an input of the same size that no other node reads. An input that
  /// the node takes twice is not overwritten, unless the op is also `elementwise`.
  forwardable = 1u << 3,

  // Pattern.
  commutative = 1u << 5,  ///< exchanging its two inputs does not change the result
  elementwise = 1u << 6,  ///< an element depends on the same element of each input: equal shapes
  broadcasting = 1u << 7, ///< with `elementwise`: inputs are broadcast by NumPy's rules
  /// A product of two matrices, with `transpose_a` and `transpose_b`, or of batches of them, with
  /// `adj_x` and `adj_y`; with `broadcasting`, the batch axes are broadcast.
  is_product = 1u << 11,
  /// The 2-D convolution of images with a filter; the attributes are those of Conv2D.
  is_convolution = 1u << 14,
  /// Adds its two inputs, which are broadcast. If it has a `data_format`, the second input has one
  /// number for each channel of the first.
  adds = 1u << 12,
  rectifies = 1u << 13, ///< replaces negative elements by zero

  // Precision, for the mixed-precision pass.
  /// Faster with 16-bit operands, and safe: accumulates in f32 and rounds each result once, as
  /// products of matrices and convolutions do.
  autocast_allow = 1u << 9,
  /// As accurate with 16-bit values as with f32: moves values, selects among them, or adds a few.
  /// Runs in 16 bits if its inputs are in 16 bits already.
  autocast_infer = 1u << 10,

  // Shapes.
  reads_shapes_only = 1u << 8, ///< reads the types and shapes of its inputs, never their elements
  /// The shapes of the outputs depend on elements of the inputs. GPU kernels of such an op have two
  /// phases (two_phase_op.hpp, ops/kernel/gpu/two_phase.cuda.hpp).
  data_dependent_shape = 1u << 15,
};

constexpr effect operator|(effect a, effect b) {
  return static_cast<effect>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr bool has(effect effects, effect tested) {
  return (static_cast<uint32_t>(effects) & static_cast<uint32_t>(tested)) != 0;
}

/// The variant of an op that takes variables by handle and outputs no handle: ResourceApplyAdam for
/// ApplyAdam. A registry creates it from the op (handle_op.hpp).
struct handle_form {
  std::string_view name = {};       ///< empty: there is no such variant
  std::string_view variable = {};   ///< the first input's name, if it differs
  std::string_view type = {};       ///< the name of the type attribute, if it differs
  bool untyped = false;             ///< has no type attribute
  bool without_use_locking = false; ///< has no use_locking: updates always exclude each other
  bool defined = false;             ///< has a definition of its own; the registry creates none
};

/// The rule by which a node runs the functions in its attributes (function.hpp), in the order of
/// the definition.
enum class call_kind : uint8_t {
  never,
  once,       ///< runs the only function
  if_true,    ///< runs the first function if the first input is true, else the second
  by_number,  ///< runs the function with the index in the first input; the last one if out of range
  while_true, ///< a loop: the first function is the condition, the second the body
};

using port_list = inplace_vector<port, 18>;
using attr_list = inplace_vector<attr_def, 16>;
using shapes = std::vector<partial_shape>;
using edges = std::vector<edge>;

/// The definition of an op without its kernels.
struct TROUPE_API op_def {
  std::string_view name;
  /// A second name for the same op, such as that of a later version without other differences;
  /// empty: none.
  std::string_view second_name = {};
  std::string_view doc; ///< a sentence; then, after an empty line, details
  port_list inputs = {};
  port_list outputs = {};
  attr_list attrs = {};
  effect effects = effect::none;
  call_kind calls = call_kind::never;
  /// The variant of the op for variables given by handle.
  handle_form by_handle = {};
  resource state_kind = resource::none;
  bool per_step = false; ///< each step has its own state, which is destroyed with the step
  /// Creates the state of a node from its attributes.
  std::shared_ptr<named_state> (*create_state)(const node& source, std::string name) = nullptr;
  /// Creates state whose operations nodes wait for; an actor runs it. Fails if attributes
  /// contradict each other.
  result<std::unique_ptr<waitable_resource>> (*make_waitable_resource)(const node& source,
                                                                       std::string name) = nullptr;
  /// Starts the operation of a blocking node on the waitable resource behind its first input, or on
  /// the node's own waitable resource if it has no such input. The answer's tensors are the node's
  /// outputs.
  void (*start_operation)(waitable_resource& target, question&& request,
                          std::vector<answer>& done) = nullptr;
  /// If the step fails, the answer's tensors are returned to the waitable resource:
  /// waitable_resource::end_step.
  bool returns_answer_on_failure = false;
  /// Returns one shape per output tensor. Reports errors that are known before a run. For an op
  /// without outputs, only success or failure matters.
  result<shapes> (*infer)(const infer_context&) = nullptr;
  /// Returns one edge per input tensor: the gradient with respect to it, or an empty edge.
  edges (*gradient)(gradient_context&) = nullptr;
  /// Returns the number of floating-point operations of a run, for the cost model; by default one
  /// for each element of the largest tensor. Unknown extents count as 1.
  double (*flops)(const node&) = nullptr;
  /// The reason why there is no gradient function.
  std::string_view no_gradient = {};
  /// Returns a replacement for the only output of a node, equal within rounding: an existing edge
  /// or an edge to cheaper nodes. Returns an empty edge if there is none. Called for pure
  /// nodes only.
  edge (*simplify)(simplify_context&) = nullptr;
  /// A text graph (see docs/text-graphs.md) that shows the op and that the tests run.
  std::string_view example = {};

  const attr_def* find_attr(std::string_view attr_name) const noexcept;
};

/// Prints the op as in the reference: signature, attributes, doc, example.
TROUPE_API std::string describe(const op_def& op);

} // namespace troupe
