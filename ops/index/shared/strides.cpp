#include "troupe/ops/index/shared/strides.hpp"

#include "troupe/ops/define/dims.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {
namespace {

bool bit(int64_t mask, size_t i) { return i < 63 && (mask >> i & 1) != 0; }

// The range that an item selects on an axis of known extent; bounds beyond the axis are clamped.
result<sliced_axis> part_of(int64_t extent, size_t axis, const slice_bounds& bounds, size_t i,
                            const slice_masks& masks) {
  auto stride = bounds.strides[i], begin = bounds.begin[i];
  if (bit(masks.shrink_axis, i)) {
    auto place = begin < 0 ? begin + extent : begin;
    if (place < 0 || place >= extent)
      return invalid("index ", begin, " is outside of axis ", axis, " of extent ", extent);
    return sliced_axis{place, 1, 1};
  }
  auto low = stride > 0 ? int64_t{0} : int64_t{-1}, high = stride > 0 ? extent : extent - 1;
  auto place = [&](int64_t at) { return std::clamp(at < 0 ? at + extent : at, low, high); };
  auto first = bit(masks.begin, i) ? (stride > 0 ? low : high) : place(begin);
  auto last = bit(masks.end, i) ? (stride > 0 ? high : low) : place(bounds.end[i]);
  auto length = last - first;
  if (length == 0 || (length < 0) != (stride < 0))
    return sliced_axis{0, 1, 0};
  auto count = length / stride + (length % stride != 0);
  return sliced_axis{first, count == 1 ? 1 : stride, count};
}

} // namespace

result<strided_slice_plan> plan_slice(std::span<const int64_t> extents, size_t items,
                                      const std::optional<slice_bounds>& bounds,
                                      const slice_masks& masks) {
  strided_slice_plan plan;
  size_t axis = 0;
  auto take_whole = [&](size_t until) {
    for (; axis < until; ++axis) {
      plan.axes[axis] = {0, 1, extents[axis]};
      plan.extents.push_back(extents[axis]);
    }
  };
  // The numbers of axes that the items before and after the ellipsis cover.
  size_t named = 0, ellipses = 0;
  for (size_t i = 0; i < items; ++i) {
    ellipses += bit(masks.ellipsis, i);
    named += !bit(masks.ellipsis, i) && !bit(masks.new_axis, i);
  }
  if (ellipses > 1)
    return invalid("there can be only one ellipsis, got ", ellipses);
  if (named > extents.size())
    return invalid("begin, end and strides are about ", named, " axes, the input has ",
                   extents.size());
  for (size_t i = 0; i < items; ++i) {
    if (bit(masks.ellipsis, i)) {
      take_whole(axis + extents.size() - named);
    } else if (bit(masks.new_axis, i)) {
      plan.extents.push_back(1);
    } else {
      auto shrinks = bit(masks.shrink_axis, i);
      if (bounds && bounds->strides[i] == 0)
        return invalid("strides must not be zero, but item ", i, " is");
      if (bounds && shrinks && bounds->strides[i] < 0)
        return invalid("an axis that shrinks must have stride 1, but item ", i, " has ",
                       bounds->strides[i]);
      auto& part = plan.axes[axis];
      part = {0, 1, shrinks ? 1 : unknown_extent};
      if (bounds && extents[axis] != unknown_extent) {
        TROUPE_ASSIGN(part, part_of(extents[axis], axis, *bounds, i, masks));
      }
      if (!shrinks)
        plan.extents.push_back(part.extent);
      ++axis;
    }
  }
  take_whole(extents.size());
  return plan;
}

result<shapes> infer_strided_slice(const infer_context& at, const partial_shape& dims, int first) {
  partial_shape items{unknown_extent};
  for (int i = first; i < first + 3; ++i) {
    TROUPE_ASSIGN(auto list, at.of_rank(i, 1));
    TROUPE_ASSIGN(items, merge(items, list));
  }
  if (!dims.has_rank() || items[0] == unknown_extent)
    return shapes{partial_shape::unknown()};
  auto begin = at.integers(first), end = at.integers(first + 1), strides = at.integers(first + 2);
  std::optional<slice_bounds> bounds;
  if (begin && end && strides)
    bounds = {*begin, *end, *strides};
  auto masks = slice_masks{at};
  TROUPE_ASSIGN(auto plan,
                plan_slice(dims.extents(), static_cast<size_t>(items[0]), bounds, masks));
  TROUPE_ASSIGN(auto out, partial_shape::make(plan.extents));
  return shapes{out};
}

result<slice_places> locate_slice(const shape& dims, const tensor& begin, const tensor& end,
                                  const tensor& strides, const slice_masks& masks) {
  if (begin.rank() != 1 || !(begin.dims() == end.dims()) || !(begin.dims() == strides.dims()))
    return invalid("begin, end and strides must be vectors of one length, got shapes ",
                   begin.dims(), ", ", end.dims(), " and ", strides.dims());
  auto from = to_integers(begin), to = to_integers(end), by = to_integers(strides);
  TROUPE_ASSIGN(auto plan,
                plan_slice(dims.extents(), from.size(), slice_bounds{from, to, by}, masks));
  TROUPE_ASSIGN(auto out, shape::make(plan.extents));
  slice_places located{out, 0, {}};
  auto steps = strides_of(dims);
  for (size_t axis = 0; axis < static_cast<size_t>(dims.rank()); ++axis) {
    const auto& part = plan.axes[axis];
    located.first += part.first * steps[axis];
    located.places.push_back(part.extent, {part.stride * steps[axis], 0});
  }
  return located;
}

result<std::shared_ptr<void>> keep_slice_masks(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<slice_masks>(setup.origin)};
}

attr_map attributes(const slice_masks& masks) {
  return {{"begin_mask", masks.begin},
          {"end_mask", masks.end},
          {"ellipsis_mask", masks.ellipsis},
          {"new_axis_mask", masks.new_axis},
          {"shrink_axis_mask", masks.shrink_axis}};
}

} // namespace troupe::ops
