// Shared by the kernels of Bucketize.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <vector>

namespace troupe::ops {

using bucket_boundaries = std::vector<float>;

inline result<std::shared_ptr<void>> prepare_buckets(const kernel_setup& setup) {
  auto boundaries = std::make_shared<bucket_boundaries>();
  for (auto boundary : setup.origin.attr<std::vector<double>>("boundaries"))
    boundaries->push_back(static_cast<float>(boundary));
  if (!std::ranges::is_sorted(*boundaries))
    return invalid("boundaries must not decrease");
  return std::shared_ptr<void>{boundaries};
}

} // namespace troupe::ops
