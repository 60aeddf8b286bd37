// The functions of a GraphDef, and queries about their calls.
#pragma once
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <map>
#include <set>
#include <string_view>

namespace troupe::graph_def {

using attrs = google::protobuf::Map<std::string, AttrValue>;

/// TensorFlow's attribute of functions whose calls are not inlined.
inline constexpr const char* noinline_attr = "_noinline";

const AttrValue* find(const attrs& attributes, const std::string& name);

/// Finds an attribute of a node. A placeholder is resolved in `call_attrs`, those of the call.
const AttrValue* find(const attrs& attributes, const std::string& name, const attrs& call_attrs);

struct function_call {
  const FunctionDef* body = nullptr; ///< null: the node is not a call
  const attrs* call_attrs = nullptr;
  bool partitioned = false; ///< by a PartitionedCall, whose outputs are one list
  explicit operator bool() const { return body != nullptr; }
};

class function_library {
public:
  /// Both must outlive the library.
  function_library(const FunctionDefLibrary& functions, const registry& ops);

  /// The function that a node calls, by its name or by a PartitionedCall.
  function_call called_by(const NodeDef& call) const;
  /// The same, but only for calls that are inlined. A call is not inlined if its function has a
  /// gradient of its own, or if the node or the function forbids it and the function makes no
  /// state.
  function_call callee(const NodeDef& call) const;
  /// Whether the node, or else its function, forbids inlining.
  static bool is_noinline(const NodeDef& call, const function_call& called);

  const FunctionDef* find(std::string_view name) const;
  /// The name of a function's gradient function; null if it has none.
  const std::string* gradient_of(std::string_view name) const;

  /// Returns whether a node must run even if its outputs are not needed.
  bool has_effect(const NodeDef& tested) const;

  /// The index, among all tensors of a node, of the first tensor of a named output.
  result<size_t> first_of(const NodeDef& node, std::string_view output,
                          const attrs& call_attrs) const;

private:
  /// Whether a call makes variables, tables or the like, which outlive the step.
  bool makes_state(const FunctionDef& called) const;
  bool makes_state(const FunctionDef& called, std::set<const FunctionDef*>& seen) const;

  const registry& ops_;
  std::map<std::string_view, const FunctionDef*> functions_;
  std::map<std::string_view, const std::string*> gradients_;
};

/// The number of tensors of an argument or result of a function.
result<size_t> tensors_of(const OpDef::ArgDef& argument, const attrs& attributes,
                          const attrs& call_attrs = {});

} // namespace troupe::graph_def
