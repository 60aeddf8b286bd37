// Matches a node's inputs and attributes with the signature of its op.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// The deductions from the inputs: complete attributes, the port of each tensor, the output types.
struct matched_signature {
  attr_map attrs;
  std::vector<const port*> input_ports, output_ports;
  std::vector<dtype> output_types;
};

/// Deduces type and count attributes from the inputs, adds defaults, and checks all of them.
result<matched_signature> match_signature(const op_def& op, const std::vector<edge>& inputs,
                                          attr_map attrs);

} // namespace troupe
