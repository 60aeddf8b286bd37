// Reads functions that nodes of a GraphDef run: the bodies of branches and loops.
#pragma once
#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/graph_def/graph_def.pb.h"
#include "troupe/serialization/graph_def/raise_control_flow.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe::graph_def {

/// The context for reading a function.
struct function_source {
  const FunctionDefLibrary& library;
  const graph_def_options& options;
  /// The functions that are being read, the outermost first. A recursive reference is by name only.
  std::vector<std::string> open = {};
  /// The functions that are being read as gradients of others.
  std::vector<std::string> gradients = {};
  /// How many more functions may be read for the graph.
  size_t* left = nullptr;
  /// Functions without effects that were read, shared by calls with equal arguments.
  std::map<std::string, std::shared_ptr<const function>>* known = nullptr;
  /// The converted branches and loops of TensorFlow 1.
  const raised_graph* raised = nullptr;
};

constexpr size_t max_functions = 10'000;

/// Reads a function for arguments like these edges, with the shapes in `dims`, if not empty. Calls
/// in it are inlined, as in graphs. The function gets its own gradient, if it has one.
result<function_value> read_function(const NameAttrList& called, graph& outer,
                                     const std::vector<edge>& arguments,
                                     const std::vector<partial_shape>& dims,
                                     const function_source& source);

} // namespace troupe::graph_def
