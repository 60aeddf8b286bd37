#include "troupe/runtime/state/slices.hpp"

#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

void fill_with_zeros(const tensor& target) {
  if (target.type() == dtype::string)
    std::fill_n(target.data<std::string>(), target.elements(), std::string{});
  else
    std::memset(target.raw(), 0, target.bytes());
}

// Copies `from` into the corner of a larger slice, row by row.
void copy_corner(const tensor& from, const tensor& to, int64_t to_slice) {
  if (from.elements() == 0)
    return;
  const auto rank = from.rank();
  int64_t slice = 1;
  for (int axis = 0; axis < rank; ++axis)
    slice *= to.dims()[axis + 1];
  const auto row = rank == 0 ? 1 : from.dims()[rank - 1];
  std::vector<int64_t> position(static_cast<size_t>(rank), 0); // of the row, in `from`
  for (int64_t begin = 0; begin < from.elements(); begin += row) {
    int64_t to_offset = 0;
    for (int axis = 0; axis < rank; ++axis)
      to_offset = to_offset * to.dims()[axis + 1] + position[static_cast<size_t>(axis)];
    to_offset += to_slice * slice;
    if (from.type() == dtype::string) {
      std::copy_n(from.data<std::string>() + begin, row, to.data<std::string>() + to_offset);
    } else {
      auto size = static_cast<int64_t>(size_of(from.type()));
      std::memcpy(static_cast<char*>(to.raw()) + to_offset * size,
                  static_cast<const char*>(from.raw()) + begin * size,
                  static_cast<size_t>(row * size));
    }
    for (int axis = rank - 2; axis >= 0; --axis) {
      if (++position[static_cast<size_t>(axis)] < from.dims()[axis])
        break;
      position[static_cast<size_t>(axis)] = 0;
    }
  }
}

// The shape of all parts; with padding, the largest extent of each axis.
result<shape> common_shape(std::span<const tensor* const> parts, const stack_options& options) {
  if (parts.empty()) {
    if (!options.dims.fully_known())
      return invalid("an empty batch needs a shape that is known");
    return options.dims.known();
  }
  const auto& first = parts.front()->dims();
  std::vector<int64_t> extents(first.begin(), first.end());
  for (const auto* part : parts) {
    const auto& dims = part->dims();
    if (std::ranges::equal(dims, extents))
      continue;
    if (!options.pad)
      return invalid("elements of shapes ", first, " and ", dims, " do not fit into one batch");
    for (size_t axis = 0; axis < extents.size(); ++axis)
      extents[axis] = std::max(extents[axis], dims[static_cast<int>(axis)]);
  }
  return shape::make(extents);
}

} // namespace

void copy_slice(const tensor& from, int64_t from_slice, const tensor& to, int64_t to_slice,
                int64_t extent) {
  if (extent == 0)
    return;
  if (from.type() == dtype::string) {
    std::copy_n(from.data<std::string>() + from_slice * extent, extent,
                to.data<std::string>() + to_slice * extent);
    return;
  }
  if (from.type() == dtype::variant) {
    std::copy_n(from.data<tensor_list>() + from_slice * extent, extent,
                to.data<tensor_list>() + to_slice * extent);
    return;
  }
  auto bytes = extent * static_cast<int64_t>(size_of(from.type()));
  std::memcpy(static_cast<char*>(to.raw()) + to_slice * bytes,
              static_cast<const char*>(from.raw()) + from_slice * bytes,
              static_cast<size_t>(bytes));
}

shape without_first_axis(const shape& dims) {
  shape row_dims;
  for (int axis = 1; axis < dims.rank(); ++axis)
    row_dims.push_back(dims[axis]);
  return row_dims;
}

result<tensor> slice_of(const tensor& batch, int64_t position, allocator& memory) {
  auto dims = without_first_axis(batch.dims());
  TROUPE_ASSIGN(auto slice, tensor::make(batch.type(), dims, memory));
  copy_slice(batch, position, slice, 0, dims.elements());
  return slice;
}

result<tensor> stack(std::span<const tensor* const> parts, const stack_options& options,
                     allocator& memory) {
  TROUPE_ASSIGN(auto slice_dims, common_shape(parts, options));
  std::vector<int64_t> extents{static_cast<int64_t>(parts.size())};
  extents.insert(extents.end(), slice_dims.begin(), slice_dims.end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto stacked, tensor::make(options.type, dims, memory));
  auto same_shapes =
      std::ranges::all_of(parts, [&](auto* part) { return part->dims() == slice_dims; });
  if (!same_shapes)
    fill_with_zeros(stacked);
  for (size_t k = 0; k < parts.size(); ++k)
    if (same_shapes)
      copy_slice(*parts[k], 0, stacked, static_cast<int64_t>(k), slice_dims.elements());
    else
      copy_corner(*parts[k], stacked, static_cast<int64_t>(k));
  return stacked;
}

} // namespace troupe
