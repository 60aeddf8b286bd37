#include "troupe/serialization/storage/slices.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace troupe {
namespace {

// Checking for overlaps compares the slices of one tensor pairwise: the limit bounds its cost.
constexpr size_t max_slices = 16384;

std::string print(std::span<const int64_t> offset) {
  std::string text = "[";
  for (auto coordinate : offset)
    text += concat(text.size() > 1 ? "," : "", coordinate);
  return text + "]";
}

} // namespace

bool slices_overlap(std::span<const int64_t> one_offset, const shape& one_dims,
                    std::span<const int64_t> other_offset, const shape& other_dims) noexcept {
  for (size_t axis = 0; axis < one_offset.size(); ++axis) {
    auto dimension = static_cast<int>(axis);
    if (one_offset[axis] + one_dims[dimension] <= other_offset[axis] ||
        other_offset[axis] + other_dims[dimension] <= one_offset[axis])
      return false;
  }
  return one_dims.elements() > 0 && other_dims.elements() > 0;
}

status check_slice(const shape& full_shape, std::span<const int64_t> offset, const shape& dims) {
  auto fits =
      offset.size() == static_cast<size_t>(full_shape.rank()) && dims.rank() == full_shape.rank();
  for (int axis = 0; fits && axis < full_shape.rank(); ++axis) {
    auto begin = offset[static_cast<size_t>(axis)];
    fits = begin >= 0 && begin <= full_shape[axis] && dims[axis] <= full_shape[axis] - begin;
  }
  if (!fits)
    return invalid("a slice ", dims, " at ", print(offset), " does not lie within ", full_shape);
  return {};
}

int64_t count_overlap(std::span<const int64_t> one_offset, const shape& one_dims,
                      std::span<const int64_t> other_offset, const shape& other_dims) noexcept {
  int64_t count = 1;
  for (size_t axis = 0; axis < one_offset.size(); ++axis) {
    auto dimension = static_cast<int>(axis);
    count *= std::max<int64_t>(0, std::min(one_offset[axis] + one_dims[dimension],
                                           other_offset[axis] + other_dims[dimension]) -
                                      std::max(one_offset[axis], other_offset[axis]));
  }
  return count;
}

status check_disjoint(std::span<const tensor_slice> slices) {
  if (slices.size() > max_slices)
    return invalid("it has ", slices.size(), " slices, and at most ", max_slices, " are read");
  std::vector<const tensor_slice*> order;
  for (const auto& slice : slices)
    if (slice.dims.elements() > 0)
      order.push_back(&slice);
  std::ranges::sort(
      order, [](const auto* left, const auto* right) { return left->offset < right->offset; });
  for (size_t i = 0; i < order.size(); ++i)
    for (size_t k = i + 1; k < order.size(); ++k) {
      const auto &first = *order[i], &second = *order[k];
      if (first.offset.empty() || second.offset[0] >= first.offset[0] + first.dims[0]) {
        if (first.offset.empty())
          return invalid("a scalar has two slices");
        break;
      }
      if (slices_overlap(first.offset, first.dims, second.offset, second.dims))
        return invalid("its slices at ", print(first.offset), " and at ", print(second.offset),
                       " overlap");
    }
  return {};
}

status check_cover(const shape& full_shape, std::span<const tensor_slice> slices) {
  TROUPE_TRY(check_disjoint(slices));
  int64_t elements = 0;
  for (const auto& slice : slices)
    if (__builtin_add_overflow(elements, slice.dims.elements(), &elements))
      return invalid("its slices have too many elements");
  if (elements != full_shape.elements())
    return invalid("its slices have ", elements, " of the ", full_shape.elements(), " elements of ",
                   full_shape);
  return {};
}

void copy_overlap(const tensor& from, std::span<const int64_t> from_offset, tensor& to,
                  std::span<const int64_t> to_offset) {
  const auto rank = static_cast<size_t>(to.rank());
  std::array<int64_t, max_rank> begin{}, extent{}, index{};
  for (size_t axis = 0; axis < rank; ++axis) {
    auto dimension = static_cast<int>(axis);
    begin[axis] = std::max(from_offset[axis], to_offset[axis]);
    extent[axis] = std::min(from_offset[axis] + from.dims()[dimension],
                            to_offset[axis] + to.dims()[dimension]) -
                   begin[axis];
    if (extent[axis] <= 0)
      return;
  }
  const auto contiguous_elements = rank == 0 ? 1 : extent[rank - 1];
  auto position_in = [&](const tensor& in, std::span<const int64_t> offset) {
    int64_t position = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      position =
          position * in.dims()[static_cast<int>(axis)] + begin[axis] + index[axis] - offset[axis];
    return position;
  };
  for (;;) {
    auto source = position_in(from, from_offset), target = position_in(to, to_offset);
    if (to.type() == dtype::string) {
      std::copy_n(from.data<std::string>() + source, contiguous_elements,
                  to.data<std::string>() + target);
    } else {
      auto element_bytes = static_cast<int64_t>(size_of(to.type()));
      std::memcpy(static_cast<std::byte*>(to.raw()) + target * element_bytes,
                  static_cast<const std::byte*>(from.raw()) + source * element_bytes,
                  static_cast<size_t>(contiguous_elements * element_bytes));
    }
    size_t axis = rank < 2 ? 0 : rank - 1; // the last axis is copied at once
    for (; axis > 0; --axis) {
      if (++index[axis - 1] < extent[axis - 1])
        break;
      index[axis - 1] = 0;
    }
    if (axis == 0)
      return;
  }
}

} // namespace troupe
