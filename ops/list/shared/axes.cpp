#include "troupe/ops/list/shared/axes.hpp"

namespace troupe::ops {

result<partial_shape> with_axes(std::span<const int64_t> front, const partial_shape& dims) {
  if (!dims.has_rank())
    return dims;
  std::vector<int64_t> extents{front.begin(), front.end()};
  extents.insert(extents.end(), dims.extents().begin(), dims.extents().end());
  return partial_shape::make(extents);
}

} // namespace troupe::ops
