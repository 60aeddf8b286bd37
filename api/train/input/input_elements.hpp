// Helpers of the input_pipeline stages for the elements of queues.
#pragma once
#include "troupe/api/graph_builder.hpp"

#include <vector>

namespace troupe {

inline std::vector<dtype> types_of(const std::vector<edge>& element) {
  std::vector<dtype> types;
  for (const auto& component : element)
    types.push_back(component.node->output_type(component.index));
  return types;
}

} // namespace troupe
