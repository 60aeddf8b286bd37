#include "troupe/ops/pad/shared/padding.hpp"

#include "troupe/ops/define/dims.hpp"
#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {
namespace {

result<int64_t> padded_extent(int64_t extent, int64_t before, int64_t after) {
  if (before < 0 || after < 0)
    return invalid("paddings must not be negative, got ", before, " and ", after);
  int64_t sum = 0;
  if (__builtin_add_overflow(before, after, &sum) || __builtin_add_overflow(sum, extent, &sum))
    return invalid("paddings of ", before, " and ", after, " are too much");
  return sum;
}

result<int64_t> cropped_extent(int64_t extent, int64_t before, int64_t after) {
  if (before < 0 || after < 0)
    return invalid("paddings must not be negative, got ", before, " and ", after);
  if (before > extent || after > extent - before)
    return invalid("an axis of extent ", extent, " has no paddings of ", before, " and ", after);
  return extent - before - after;
}

result<shapes> infer_frames(const infer_context& at,
                            result<int64_t> (*changed)(int64_t, int64_t, int64_t)) {
  TROUPE_ASSIGN(auto table, at.of_rank(1, 2));
  TROUPE_ASSIGN(auto shape_of_table, merge(table, {at.input(0).rank(), 2}));
  auto dims = at.input(0);
  if (shape_of_table[0] == unknown_extent)
    return shapes{partial_shape::unknown()};
  if (!dims.has_rank()) {
    if (shape_of_table[0] > max_rank)
      return at.invalid("a tensor has at most ", max_rank, " axes, got ", shape_of_table[0]);
    return shapes{partial_shape::of_rank(static_cast<int>(shape_of_table[0]))};
  }
  auto paddings = at.integers(1);
  for (int axis = 0; axis < dims.rank(); ++axis) {
    auto extent = dims[axis];
    if (paddings && extent != unknown_extent) {
      auto i = 2 * static_cast<size_t>(axis);
      TROUPE_ASSIGN(extent, changed(extent, (*paddings)[i], (*paddings)[i + 1]));
    } else {
      extent = unknown_extent;
    }
    dims.set(axis, extent);
  }
  TROUPE_ASSIGN(auto checked, partial_shape::make(dims.extents()));
  return shapes{checked};
}

} // namespace

result<shapes> infer_padding(const infer_context& at) { return infer_frames(at, padded_extent); }
result<shapes> infer_cropping(const infer_context& at) { return infer_frames(at, cropped_extent); }

result<std::vector<frame>> frames_of(const tensor& paddings, const shape& dims) {
  if (!(paddings.dims() == shape{dims.rank(), 2}))
    return invalid("paddings must have shape [", dims.rank(), ",2], got ", paddings.dims());
  auto values = to_integers(paddings);
  std::vector<frame> frames;
  for (size_t i = 0; i < values.size(); i += 2) {
    if (values[i] < 0 || values[i + 1] < 0)
      return invalid("paddings must not be negative, got ", values[i], " and ", values[i + 1]);
    frames.push_back({values[i], values[i + 1]});
  }
  return frames;
}

result<shape> padded(const shape& dims, const std::vector<frame>& frames) {
  std::vector<int64_t> extents;
  for (size_t i = 0; i < frames.size(); ++i) {
    TROUPE_ASSIGN(auto extent,
                  padded_extent(dims[static_cast<int>(i)], frames[i].before, frames[i].after));
    extents.push_back(extent);
  }
  return shape::make(extents);
}

status pad_with(kernel_context& at, const tensor& value) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto frames, frames_of(at.input(1), x.dims()));
  TROUPE_ASSIGN(auto dims, padded(x.dims(), frames));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  at.parallel_for(out->elements(), 0.2, [&](int64_t begin, int64_t end) {
    fill_elements(value, {*out, begin}, end - begin);
  });
  auto strides = strides_of(dims);
  int64_t first = 0;
  strided_iterator places;
  for (size_t i = 0; i < frames.size(); ++i) {
    first += frames[i].before * strides[i];
    places.push_back(x.dims()[static_cast<int>(i)], {strides[i], 0});
  }
  copy_to_strided(at, places, x, {*out, first});
  return {};
}

edge cropped(gradient_context& at, edge dy) {
  auto paddings = cast_to(at.input(1), dtype::i64);
  auto first =
      build("Slice", {paddings, integers_like(paddings, {0, 0}), integers_like(paddings, {-1, 1})});
  auto begin = reshaped(first, integers_like(paddings, {-1}));
  return build("Slice", {dy, begin, shape_of(at.input(0))});
}

} // namespace troupe::ops
