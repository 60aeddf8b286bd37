// Whether updates lock the variable.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {

/// True where the op lacks the attribute use_locking.
inline bool uses_locks(const node& from_node) {
  auto attribute = from_node.attrs().find("use_locking");
  return attribute == from_node.attrs().end() || *attribute->second.get_if<bool>();
}

} // namespace troupe::ops
