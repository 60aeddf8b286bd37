// Calls of functions, replaced by what the functions consist of.
#pragma once
#include "troupe/runtime/fwd.hpp"
#include "troupe/serialization/graph_def/values.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe::graph_def {

/// What became of a call: where its outputs come from now, and the node that runs after all of it.
struct inlined_call {
  std::vector<std::string> outputs; ///< "node:1"
  std::string end;
};

using inlined_calls = std::map<std::string, inlined_call, std::less<>>;

/// Replaces each call with copies of the nodes of the function, named `call/node`. Returns what
/// became of the calls. Fails for functions that call themselves, and where copies of copies would
/// become more than a million. Calls of functions with gradients of their own, and those that say
/// `_noinline` or whose functions do, stay calls, all of them by PartitionedCalls, but for the one
/// that `whole` names.
result<inlined_calls> inline_calls(GraphDef& in, const registry& ops, std::string_view whole = {});

} // namespace troupe::graph_def
