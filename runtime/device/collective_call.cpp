#include "troupe/runtime/device/collective_call.hpp"

namespace troupe {

shape collective_call::output_dims(size_t member_count) const {
  auto extents = dims;
  auto count = static_cast<int64_t>(member_count);
  if (kind != collective_kind::all_gather && kind != collective_kind::reduce_scatter)
    return extents;
  shape result_dims;
  for (int axis = 0; axis < dims.rank(); ++axis)
    result_dims.push_back(axis > 0                              ? dims[axis]
                          : kind == collective_kind::all_gather ? dims[0] * count
                                                                : dims[0] / count);
  return result_dims;
}

} // namespace troupe
