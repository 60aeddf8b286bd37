#include "troupe/runtime/state/slices.hpp"

#include "troupe/runtime/types/tensor_list.hpp"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

void fill_with_zeros(const tensor& all) {
  if (all.type() == dtype::string)
    std::fill_n(all.data<std::string>(), all.elements(), std::string{});
  else
    std::memset(all.raw(), 0, all.bytes());
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
  std::vector<int64_t> at(static_cast<size_t>(rank), 0); // of the row, in `from`
  for (int64_t begin = 0; begin < from.elements(); begin += row) {
    int64_t target = 0;
    for (int axis = 0; axis < rank; ++axis)
      target = target * to.dims()[axis + 1] + at[static_cast<size_t>(axis)];
    target += to_slice * slice;
    if (from.type() == dtype::string) {
      std::copy_n(from.data<std::string>() + begin, row, to.data<std::string>() + target);
    } else {
      auto size = static_cast<int64_t>(size_of(from.type()));
      std::memcpy(static_cast<char*>(to.raw()) + target * size,
                  static_cast<const char*>(from.raw()) + begin * size,
                  static_cast<size_t>(row * size));
    }
    for (int axis = rank - 2; axis >= 0; --axis) {
      if (++at[static_cast<size_t>(axis)] < from.dims()[axis])
        break;
      at[static_cast<size_t>(axis)] = 0;
    }
  }
}

// Of all; of the largest extents, where it pads.
result<shape> common_shape(std::span<const tensor* const> all, const stacking& how) {
  if (all.empty()) {
    if (!how.dims.fully_known())
      return invalid("an empty batch needs a shape that is known");
    return how.dims.known();
  }
  const auto& first = all.front()->dims();
  std::vector<int64_t> extents(first.begin(), first.end());
  for (const auto* one : all) {
    const auto& dims = one->dims();
    if (std::ranges::equal(dims, extents))
      continue;
    if (!how.pads)
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

result<tensor> stack(std::span<const tensor* const> all, const stacking& how, allocator& from) {
  TROUPE_ASSIGN(auto slice, common_shape(all, how));
  std::vector<int64_t> extents{static_cast<int64_t>(all.size())};
  extents.insert(extents.end(), slice.begin(), slice.end());
  TROUPE_ASSIGN(auto dims, shape::make(extents));
  TROUPE_ASSIGN(auto made, tensor::make(how.type, dims, from));
  auto filled = std::ranges::all_of(all, [&](auto* one) { return one->dims() == slice; });
  if (!filled)
    fill_with_zeros(made);
  for (size_t k = 0; k < all.size(); ++k)
    if (filled)
      copy_slice(*all[k], 0, made, static_cast<int64_t>(k), slice.elements());
    else
      copy_corner(*all[k], made, static_cast<int64_t>(k));
  return made;
}

} // namespace troupe
