// Matches a node's inputs and attributes with its op's signature.
#pragma once
#include "troupe/runtime/graph/graph.hpp"

namespace troupe {

/// What follows from the inputs: complete attributes, the port of each tensor, the output types.
struct matched_signature {
  attr_map attrs;
  std::vector<const port*> input_ports, output_ports;
  std::vector<dtype> output_types;
};

/// Deduces type and count attributes from the inputs, fills in defaults, and checks everything.
result<matched_signature> match_signature(const op_def& op, const std::vector<edge>& inputs,
                                          attr_map attrs);

} // namespace troupe
