#include "troupe/runtime/device/collective_call.hpp"

namespace troupe {

shape collective_call::output_dims(size_t members) const {
  auto extents = dims;
  auto count = static_cast<int64_t>(members);
  if (kind != collective_kind::all_gather && kind != collective_kind::reduce_scatter)
    return extents;
  shape made;
  for (int axis = 0; axis < dims.rank(); ++axis)
    made.push_back(axis > 0                              ? dims[axis]
                   : kind == collective_kind::all_gather ? dims[0] * count
                                                         : dims[0] / count);
  return made;
}

} // namespace troupe
