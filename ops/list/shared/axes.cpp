#include "troupe/ops/list/shared/axes.hpp"

namespace troupe::ops {

result<partial_shape> with_axes(std::span<const int64_t> front, const partial_shape& of) {
  if (!of.has_rank())
    return of;
  std::vector<int64_t> extents{front.begin(), front.end()};
  extents.insert(extents.end(), of.extents().begin(), of.extents().end());
  return partial_shape::make(extents);
}

} // namespace troupe::ops
