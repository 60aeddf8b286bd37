// Whether updates exclude each other.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {

/// Always, where the op has no attribute that says otherwise.
inline bool uses_locks(const node& of) {
  auto it = of.attrs().find("use_locking");
  return it == of.attrs().end() || *it->second.get_if<bool>();
}

} // namespace troupe::ops
