#include "troupe/serialization/tensor_bundle/slice_extents.hpp"

namespace troupe {

std::vector<slice_extent> extents_of(const shape& whole, const tensor_slice& slice) {
  std::vector<slice_extent> all;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    auto start = slice.offset[static_cast<size_t>(axis)], length = slice.dims[axis];
    all.push_back(length == whole[axis] ? slice_extent{} : slice_extent{start, length});
  }
  return all;
}

void write_extents(std::span<const slice_extent> from, tensor_bundle::TensorSliceProto& to) {
  for (const auto& each : from) {
    auto* extent = to.add_extent();
    if (each.length < 0)
      continue;
    extent->set_start(each.start);
    extent->set_length(each.length);
  }
}

std::vector<slice_extent> read_extents(const tensor_bundle::TensorSliceProto& from) {
  using extent = tensor_bundle::TensorSliceProto::Extent;
  std::vector<slice_extent> all;
  for (const auto& each : from.extent())
    all.push_back({each.start(), each.has_length_case() == extent::HAS_LENGTH_NOT_SET
                                     ? -1
                                     : std::max<int64_t>(each.length(), 0)});
  return all;
}

result<tensor_slice> slice_within(const shape& whole, std::span<const slice_extent> extents) {
  if (extents.size() != static_cast<size_t>(whole.rank()))
    return invalid("it has a slice of ", extents.size(), " axes");
  tensor_slice slice;
  for (int axis = 0; axis < whole.rank(); ++axis) {
    const auto& extent = extents[static_cast<size_t>(axis)];
    auto all = extent.length < 0;
    slice.offset.push_back(all ? 0 : extent.start);
    slice.dims.push_back(all ? whole[axis] : std::min(extent.length, whole[axis]));
    if (extent.length > whole[axis])
      return invalid("it has a slice of ", extent.length, " of ", whole[axis], " rows");
  }
  TROUPE_TRY(check_slice(whole, slice.offset, slice.dims));
  return slice;
}

} // namespace troupe
