// What the stages of an input_pipeline know of the elements that queues hold.
#pragma once
#include "troupe/api/graph_builder.hpp"

#include <vector>

namespace troupe {

inline std::vector<dtype> types_of(const std::vector<edge>& element) {
  std::vector<dtype> types;
  for (const auto& one : element)
    types.push_back(one.node->output_type(one.index));
  return types;
}

} // namespace troupe
