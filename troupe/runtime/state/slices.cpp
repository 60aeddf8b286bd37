#include "troupe/runtime/state/slices.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {

void copy_slice(const tensor& from, int64_t from_slice, const tensor& to, int64_t to_slice,
                int64_t extent) {
  if (extent == 0)
    return;
  if (from.type() == dtype::string) {
    std::copy_n(from.data<std::string>() + from_slice * extent, extent,
                to.data<std::string>() + to_slice * extent);
    return;
  }
  auto bytes = extent * static_cast<int64_t>(size_of(from.type()));
  std::memcpy(static_cast<char*>(to.raw()) + to_slice * bytes,
              static_cast<const char*>(from.raw()) + from_slice * bytes,
              static_cast<size_t>(bytes));
}

shape without_first_axis(const shape& dims) {
  shape rest;
  for (int axis = 1; axis < dims.rank(); ++axis)
    rest.push_back(dims[axis]);
  return rest;
}

result<tensor> slice_of(const tensor& batch, int64_t which, allocator& from) {
  auto dims = without_first_axis(batch.dims());
  TROUPE_ASSIGN(auto made, tensor::make(batch.type(), dims, from));
  copy_slice(batch, which, made, 0, dims.elements());
  return made;
}

result<tensor> make_batch(dtype type, int64_t count, const shape& slice, allocator& from) {
  std::vector<int64_t> extents{count};
  extents.insert(extents.end(), slice.begin(), slice.end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  return tensor::make(type, dims, from);
}

} // namespace troupe
