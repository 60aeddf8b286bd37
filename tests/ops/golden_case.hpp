// The stored cases of tests/ops/goldens: what an independent implementation computes.
#pragma once
#include "troupe/actors/session/client.hpp"

#include <string>
#include <vector>

namespace troupe::test {

struct golden_case {
  std::string name;  ///< "nn_losses 3": the family, and which of its cases
  std::string bytes; ///< a GraphDef; tests/ops/goldens/golden.py says what stands in it

  std::string op() const; ///< read from the bytes, as the graph may not be one for us
};

/// All cases, or those of the ops that are wanted (support/wanted_ops.hpp).
std::vector<golden_case> golden_cases();

/// Runs a case with these ops, and returns what is wrong with op, attributes, inputs, and values;
/// "" if nothing is.
std::string complaint_about(client& in, const registry& ops, const golden_case& what);

} // namespace troupe::test
