// What the kernels of Bucketize share.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <algorithm>
#include <vector>

namespace troupe::ops {

using bucket_boundaries = std::vector<float>;

inline result<std::shared_ptr<void>> prepare_buckets(const kernel_setup& setup) {
  auto made = std::make_shared<bucket_boundaries>();
  for (auto boundary : setup.of.attr<std::vector<double>>("boundaries"))
    made->push_back(static_cast<float>(boundary));
  if (!std::ranges::is_sorted(*made))
    return invalid("boundaries must not decrease");
  return std::shared_ptr<void>{made};
}

} // namespace troupe::ops
