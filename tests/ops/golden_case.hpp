// The stored cases of tests/ops/goldens: results of an independent implementation.
#pragma once
#include "troupe/actors/session/client.hpp"

#include <string>
#include <vector>

namespace troupe::test {

struct golden_case {
  std::string name;  ///< "nn_losses 3": the family, and which of its cases
  std::string bytes; ///< a GraphDef; tests/ops/goldens/golden.py describes its nodes

  std::string op() const; ///< read from the bytes, as the graph may not be valid for Troupe
};

/// All cases, or those of the requested ops (support/selected_ops.hpp).
std::vector<golden_case> golden_cases();

/// Runs a case with these ops, and describes errors of its op, attributes, inputs and values; "" if
/// there are none.
std::string difference_of(client& session, const registry& ops, const golden_case& stored);

} // namespace troupe::test
