// The functions of a GraphDef, and what can be said of calls of them.
#pragma once
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <map>
#include <set>
#include <string_view>

namespace troupe::graph_def {

using attrs = google::protobuf::Map<std::string, AttrValue>;

/// What TensorFlow calls the attribute of a function whose calls stay calls.
inline constexpr const char* noinline_attr = "_noinline";

const AttrValue* find(const attrs& in, const std::string& name);

/// The attribute of a node; where that only names one of the calling node's (`given`), that one.
const AttrValue* find(const attrs& in, const std::string& name, const attrs& given);

struct function_call {
  const FunctionDef* body = nullptr; ///< nothing: the node is no call
  const attrs* given = nullptr;
  bool partitioned = false; ///< by a PartitionedCall, all of whose outputs are one list
  explicit operator bool() const { return body != nullptr; }
};

class function_library {
public:
  /// Both must outlive the library.
  function_library(const FunctionDefLibrary& functions, const registry& ops);

  /// The function that a node calls, by its name or by a PartitionedCall.
  function_call called_by(const NodeDef& of) const;
  /// The same, where the nodes of the function take the node's place: not where the function has a
  /// gradient of its own, or one of both forbids it and the function makes no state.
  function_call callee(const NodeDef& of) const;
  /// Whether a call stays one, as the node says, or else its function.
  static bool is_noinline(const NodeDef& of, const function_call& called);

  const FunctionDef* find(std::string_view name) const;
  /// The name of the function that is another one's gradient; nothing where it has none.
  const std::string* gradient_of(std::string_view name) const;

  /// Says whether a node must run though nobody may need its outputs.
  bool has_effect(const NodeDef& of) const;

  /// Which of all tensors of a node is the first of its output of that name.
  result<size_t> first_of(const NodeDef& node, std::string_view output, const attrs& given) const;

private:
  /// Whether a call makes variables, tables or the like, which live longer than it does.
  bool makes_state(const FunctionDef& called) const;
  bool makes_state(const FunctionDef& called, std::set<const FunctionDef*>& seen) const;

  const registry& ops_;
  std::map<std::string_view, const FunctionDef*> functions_;
  std::map<std::string_view, const std::string*> gradients_;
};

/// How many tensors an argument or result of a function is.
result<size_t> tensors_of(const OpDef::ArgDef& of, const attrs& in, const attrs& given = {});

} // namespace troupe::graph_def
