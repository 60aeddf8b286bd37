// Replaces calls of functions by the functions' nodes.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe::graph_def {

/// The replacement of a call: its outputs, and a node that runs after the whole call.
struct inlined_call {
  std::vector<std::string> outputs; ///< "node:1"
  std::string end;
};

using inlined_calls = std::map<std::string, inlined_call, std::less<>>;

/// Replaces each call with copies of the function's nodes, named `call/node`. Returns the
/// replacements. Fails for functions that call themselves, and for more than a million copies.
/// Calls of functions with gradients of their own, and calls marked `_noinline`, directly or by
/// their function, stay calls, by PartitionedCall. The call named `inlined_call_name` is inlined
/// anyway.
result<inlined_calls> inline_calls(GraphDef& graph, const registry& ops,
                                   std::string_view inlined_call_name = {});

} // namespace troupe::graph_def
