// Renames the nodes of one call of a function for the calling graph.
#pragma once
#include "troupe/serialization/graph_def/function_library.hpp"

#include <string>
#include <vector>

namespace troupe::graph_def {

class function_scope {
public:
  function_scope(const NodeDef& call, const function_call& called, const function_library& library)
      : call_(call), body_(*called.body), library_(library), call_attrs_(*called.call_attrs) {}

  /// Matches the inputs of the call to the arguments of the function.
  status bind();

  /// Makes a node of the function a node of the graph, named `call/node`.
  status translate(NodeDef& node) const;

  /// The sources of the function's outputs.
  result<std::vector<std::string>> outputs() const;

  const NodeDef& call() const { return call_; }
  const FunctionDef& body() const { return body_; }
  std::string inner(std::string_view name) const { return concat(call_.name(), '/', name); }

  /// Replaces nodes within loops of TensorFlow 1 by the exits of all loops.
  void leave_loops(std::vector<std::string>& nodes) const;

  /// The nodes that the call waits for. If there are any, the nodes of the function wait for
  /// begin().
  const std::vector<std::string>& before() const { return before_; }
  std::string begin() const { return inner("_begin"); }

private:
  status substitute(attrs& attributes) const;
  result<std::string> control(const std::string& name) const;
  result<std::string> source(std::string_view text, size_t further) const;

  const NodeDef& call_;
  const FunctionDef& body_;
  const function_library& library_;
  attrs call_attrs_;
  std::map<std::string_view, std::vector<std::string>> arguments_;
  std::map<std::string_view, const NodeDef*> nodes_;
  std::vector<std::string> before_;
};

} // namespace troupe::graph_def
