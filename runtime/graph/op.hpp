// The definition of an operation: a filled-in form, known before any graph exists.
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
class responder;
class simplify_context;
struct answer;
struct edge;
struct question;
template <class T>
class result;

/// A list of at most N items that can be a constant.
template <class T, size_t N>
class inplace_vector {
public:
  constexpr inplace_vector() = default;
  constexpr inplace_vector(std::initializer_list<T> items) {
    for (const auto& item : items)
      items_[size_++] = item; // too many items do not compile in a constant
  }
  /// Throws std::out_of_range beyond N items, as do indices that are not there.
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

/// What lives longer than a step and is known by name; an op's ref output stands for it.
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

/// Whether nodes ask it and wait for the answer: an actor keeps it.
constexpr bool is_asked(resource kind) noexcept { return kind >= resource::queue; }

/// An input or output of an op.
struct port {
  std::string_view name;
  /// The name of a type ("f32"), of a `type` attribute ("T"), or of a `types` attribute (a list of
  /// tensors, one of each type). Empty for a variable of any type.
  std::string_view type;
  /// The name of an integer attribute: that many tensors of the type. Empty for exactly one.
  std::string_view count = {};
  /// Carries a variable, a queue or a table itself instead of a value (TensorFlow's Ref).
  bool ref = false;
  resource to = resource::none; ///< what a ref refers to
  /// An input that kernels of every device want in the host's memory: a shape, an axis, a count.
  bool on_host = false;
  /// TensorFlow carries it as a resource. An input that is no ref as well takes the value behind
  /// it, which must be a variable's.
  bool handle = false;
};

constexpr port ref(std::string_view name, std::string_view type, resource to = resource::variable) {
  return {name, type, {}, true, to};
}

/// A variable as graphs of TensorFlow 2 pass it on: a ref like others. Of any type where `type` is
/// empty.
constexpr port handle(std::string_view name, std::string_view type) {
  return {name, type, {}, true, resource::variable, false, true};
}

/// The value of a variable that is given by its handle: a read where the node stands.
constexpr port behind_handle(std::string_view name, std::string_view type) {
  return {name, type, {}, false, resource::none, false, true};
}

/// An input whose elements the kernel looks at before it can launch anything, such as a shape.
constexpr port on_host(std::string_view name, std::string_view type, std::string_view count = {}) {
  return {name, type, count, false, resource::none, true};
}

/// The least value of an integer attribute, which then has no default.
struct at_least {
  int64_t value;
};

/// Declares an attribute; which constructor is used says the kind, and whether there is a default.
struct attr_def {
  using default_value =
      std::variant<std::monostate, bool, int64_t, double, std::string_view, dtype>;

  constexpr attr_def() = default;
  /// A type from the set, deduced from the inputs where a port names it.
  constexpr attr_def(std::string_view n, dtype_set types)
      : name(n), kind(attr_kind::type), allowed(types) {}
  constexpr attr_def(std::string_view n, dtype_set types, dtype value)
      : name(n), kind(attr_kind::type), allowed(types), preset(value) {}
  constexpr attr_def(std::string_view n, std::same_as<bool> auto value)
      : name(n), kind(attr_kind::boolean), preset(value) {}
  constexpr attr_def(std::string_view n, std::same_as<int> auto value)
      : name(n), kind(attr_kind::integer), preset(int64_t{value}) {}
  constexpr attr_def(std::string_view n, std::same_as<double> auto value)
      : name(n), kind(attr_kind::real), preset(value) {}
  constexpr attr_def(std::string_view n, const char* value)
      : name(n), kind(attr_kind::text), preset(std::string_view{value}) {}
  constexpr attr_def(std::string_view n, at_least least)
      : name(n), kind(attr_kind::integer), minimum(least.value) {}
  /// A list of types from the set, required.
  constexpr attr_def(std::string_view n, attr_kind k, dtype_set types)
      : name(n), kind(k), allowed(types) {}
  /// Required, unless `optional`: then the default is false, 0, "", or an empty list; for a shape
  /// it is the unknown shape.
  constexpr attr_def(std::string_view n, attr_kind k, bool optional_ = false)
      : name(n), kind(k), optional(optional_) {}

  constexpr bool has_default() const { return optional || preset.index() != 0; }

  std::string_view name;
  attr_kind kind = attr_kind::boolean;
  dtype_set allowed = any_type;
  default_value preset;
  int64_t minimum = INT64_MIN;
  bool optional = false;
};

/// The default as a value; an empty one of its kind unless has_default().
TROUPE_API attr_value default_of(const attr_def& attr);

/// What a run of an op does beside computing its outputs. Every pass reads these, never op names.
enum class effect : uint32_t {
  none = 0,

  // Purity.
  stateful = 1u << 0, ///< reads or changes state: two runs may differ; never folded or merged
  random = 1u << 1,   ///< draws numbers
  blocking = 1u << 2, ///< may have to wait for another step: ends its region
  fed = 1u << 4,      ///< has a value only when it is fed

  // Aliasing.
  /// May write its output over an input of the same size that nothing else reads; an input that is
  /// taken twice is kept, unless the op is `elementwise` as well.
  forwardable = 1u << 3,

  // Pattern.
  commutative = 1u << 5,  ///< gives the same when its two inputs are exchanged
  elementwise = 1u << 6,  ///< each element is made of the same element of each input: equal shapes
  broadcasting = 1u << 7, ///< with `elementwise`: inputs are stretched by NumPy's rules
  /// Is the product of two matrices as `transpose_a` and `transpose_b` say, or of batches of them
  /// as `adj_x` and `adj_y` say; with `broadcasting`, what stands before the matrices is stretched.
  is_product = 1u << 11,
  /// Is the 2-D convolution of images with a filter, as its attributes say, which are Conv2D's.
  is_convolution = 1u << 14,
  /// Adds its two inputs, which are stretched to a joint shape; where it has a `data_format`, the
  /// second has one number for each channel of the first.
  adds = 1u << 12,
  rectifies = 1u << 13, ///< replaces negative elements by zero

  // Precision: what the mixed-precision pass reads.
  /// Faster with operands of 16 bits, and safe: adds up in f32 and rounds each result once, as
  /// products of matrices and convolutions do.
  autocast_allow = 1u << 9,
  /// As good with values of 16 bits as with f32 where they are in 16 bits already, and wanted so:
  /// moves them, chooses among them, or adds few of them.
  autocast_infer = 1u << 10,

  // Shapes.
  of_shape = 1u << 8, ///< looks at the types and shapes of its inputs, never at their elements
  /// The shapes of the outputs depend on elements of the inputs. Kernels for GPUs of such an op are
  /// in two parts (two_phase_op.hpp, ops/kernel/gpu/two_phase.cuda.hpp).
  data_dependent_shape = 1u << 15,
};

constexpr effect operator|(effect a, effect b) {
  return static_cast<effect>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr bool has(effect all, effect one) {
  return (static_cast<uint32_t>(all) & static_cast<uint32_t>(one)) != 0;
}

/// The op that does the same to variables that are given by handles, and hands none of them on:
/// ResourceApplyAdam for ApplyAdam. A registry makes it with the op (handle_op.hpp).
struct handle_form {
  std::string_view name = {};     ///< empty: there is none
  std::string_view variable = {}; ///< the first input's name, where it is another
  std::string_view type = {};     ///< what the attribute of its type is called, where not alike
  bool untyped = false;           ///< there is no such attribute
  bool locks = false;             ///< there is no use_locking: updates always exclude each other
  bool defined = false;           ///< has a definition of its own; the registry makes none
};

/// How nodes run the functions that are their attributes (function.hpp), in the order of the
/// definition.
enum class calling : uint8_t {
  never,
  once,       ///< the only one
  if_true,    ///< the first if the first input holds, else the second
  by_number,  ///< the one that the first input counts to, the last one beyond
  while_true, ///< as long as the first holds, the second, with what it gave before
};

using port_list = inplace_vector<port, 18>;
using attr_list = inplace_vector<attr_def, 16>;
using shapes = std::vector<partial_shape>;
using edges = std::vector<edge>;

/// Everything about an op except its kernels.
struct TROUPE_API op_def {
  std::string_view name;
  /// A second name for the same, as a later version has that differs in nothing else; empty if
  /// none.
  std::string_view also = {};
  std::string_view doc; ///< first a sentence; then, after an empty line, details
  port_list inputs = {};
  port_list outputs = {};
  attr_list attrs = {};
  effect effects = effect::none;
  calling calls = calling::never;
  /// The same for variables that are given by handles.
  handle_form by_handle = {};
  resource makes = resource::none;
  bool per_step = false; ///< what it makes is another in each step, and goes with it
  /// Makes what a node stands for, as its attributes say.
  std::shared_ptr<named_state> (*make)(const node& of, std::string name) = nullptr;
  /// The same for state that nodes have to wait for: an actor keeps it. Fails where attributes
  /// contradict each other.
  result<std::unique_ptr<responder>> (*make_responder)(const node& of, std::string name) = nullptr;
  /// What a blocking node asks of the responder behind its first input (of the one that it makes
  /// itself, where it has no such input). The answer's tensors are the node's outputs.
  void (*ask)(responder& of, question&& what, std::vector<answer>& done) = nullptr;
  /// What the answer gives goes back if the step fails: responder::settle.
  bool goes_back = false;
  /// Returns one shape per output tensor; reports what can be known to fail. Of an op without
  /// outputs, only whether it fails counts.
  result<shapes> (*infer)(const infer_context&) = nullptr;
  /// Returns one edge per input tensor: the gradient with respect to it, or an edge to nothing.
  edges (*gradient)(gradient_context&) = nullptr;
  /// How many floating-point operations a run takes, for the cost model; else one for each element
  /// of the largest tensor. Unknown extents count as 1.
  double (*flops)(const node&) = nullptr;
  /// Where there is no gradient function: why.
  std::string_view no_gradient = {};
  /// Proposes what could stand for the only output of a node, within rounding: an edge that exists,
  /// or one to cheaper nodes; an edge to nothing if the node is as simple as it gets. Sees pure
  /// nodes only.
  edge (*simplify)(simplify_context&) = nullptr;
  /// A text graph (see docs/text-graphs.md) that shows the op and that the tests run.
  std::string_view example = {};

  const attr_def* find_attr(std::string_view attr_name) const noexcept;
};

/// Prints the op as its reference shows it: signature, attributes, doc, example.
TROUPE_API std::string describe(const op_def& op);

} // namespace troupe
