// Functions that nodes of a GraphDef run: the bodies of branches and loops.
#pragma once
#include "troupe/runtime/graph/function.hpp"
#include "troupe/serialization/graph_def/graph_def.hpp"
#include "troupe/serialization/graph_def/graph_def.pb.h"
#include "troupe/serialization/graph_def/raise_control_flow.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe::graph_def {

/// What reading a function takes beside its name.
struct function_source {
  const FunctionDefLibrary& library;
  const graph_def_options& options;
  /// The functions that are being read, the outermost first: one that runs itself is named only.
  std::vector<std::string> open = {};
  /// The functions that are being read as gradients of others.
  std::vector<std::string> gradients = {};
  /// How many more may be read for the graph.
  size_t* left = nullptr;
  /// Those without effects that were read: who runs the same with alike arguments shares it.
  std::map<std::string, std::shared_ptr<const function>>* known = nullptr;
  /// What branches and loops of TensorFlow 1 have become.
  const raised_graph* raised = nullptr;
};

constexpr size_t max_functions = 10'000;

/// Reads a function that takes what the edges carry, with shapes as they are given, if any is.
/// Calls in it are replaced by what they call, as in graphs. One that has a gradient of its own
/// gets it.
result<function_value> read_function(const NameAttrList& which, graph& around,
                                     const std::vector<edge>& arguments,
                                     const std::vector<partial_shape>& dims,
                                     const function_source& from);

} // namespace troupe::graph_def
