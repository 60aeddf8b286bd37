#include "troupe/serialization/tensor_bundle/slice_extents.hpp"

namespace troupe {

std::vector<slice_extent> extents_of(const shape& full_shape, const tensor_slice& slice) {
  std::vector<slice_extent> extents;
  for (int axis = 0; axis < full_shape.rank(); ++axis) {
    auto start = slice.offset[static_cast<size_t>(axis)], length = slice.dims[axis];
    extents.push_back(length == full_shape[axis] ? slice_extent{} : slice_extent{start, length});
  }
  return extents;
}

void write_extents(std::span<const slice_extent> from, tensor_bundle::TensorSliceProto& to) {
  for (const auto& axis_extent : from) {
    auto* extent = to.add_extent();
    if (axis_extent.length < 0)
      continue;
    extent->set_start(axis_extent.start);
    extent->set_length(axis_extent.length);
  }
}

std::vector<slice_extent> read_extents(const tensor_bundle::TensorSliceProto& from) {
  using extent = tensor_bundle::TensorSliceProto::Extent;
  std::vector<slice_extent> extents;
  for (const auto& stored : from.extent())
    extents.push_back({stored.start(), stored.has_length_case() == extent::HAS_LENGTH_NOT_SET
                                           ? -1
                                           : std::max<int64_t>(stored.length(), 0)});
  return extents;
}

result<tensor_slice> slice_within(const shape& full_shape, std::span<const slice_extent> extents) {
  if (extents.size() != static_cast<size_t>(full_shape.rank()))
    return invalid("it has a slice of ", extents.size(), " axes");
  tensor_slice slice;
  for (int axis = 0; axis < full_shape.rank(); ++axis) {
    const auto& extent = extents[static_cast<size_t>(axis)];
    auto is_full_axis = extent.length < 0;
    slice.offset.push_back(is_full_axis ? 0 : extent.start);
    slice.dims.push_back(is_full_axis ? full_shape[axis]
                                      : std::min(extent.length, full_shape[axis]));
    if (extent.length > full_shape[axis])
      return invalid("it has a slice of ", extent.length, " of ", full_shape[axis], " rows");
  }
  TROUPE_TRY(check_slice(full_shape, slice.offset, slice.dims));
  return slice;
}

} // namespace troupe
