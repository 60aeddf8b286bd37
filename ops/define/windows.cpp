#include "troupe/ops/define/windows.hpp"

#include <algorithm>

namespace troupe::ops {
namespace {

// The product of two numbers up to this limit fits 64 bits.
constexpr int64_t max_extent = INT32_MAX;

/// One number for each spatial axis, out of a list with one for each axis of the tensor.
result<std::vector<int64_t>> spatial_part(const window_options& options, std::string_view name,
                                          const std::vector<int64_t>* list) {
  if (!list || (list->empty() && name == "dilations"))
    return std::vector<int64_t>(static_cast<size_t>(options.spatial), 1);
  if (list->size() != static_cast<size_t>(options.rank()))
    return invalid(name, " must have ", options.rank(), " elements, got ", list->size());
  auto channels = static_cast<size_t>(options.channel_axis());
  if (list->front() != 1 || (*list)[channels] != 1)
    return invalid(name, " must be 1 for images and channels, got ", list->front(), " and ",
                   (*list)[channels]);
  std::vector<int64_t> part;
  for (int i = 0; i < options.spatial; ++i)
    part.push_back((*list)[static_cast<size_t>(options.axis(i))]);
  for (auto value : part)
    if (value < 1 || value > max_extent)
      return invalid(name, " must be positive 32-bit numbers, got ", value);
  return part;
}

status read_explicit(window_options& into, const std::vector<int64_t>& pads) {
  if (pads.size() != 2 * static_cast<size_t>(into.rank()))
    return invalid("explicit_paddings must have ", 2 * into.rank(), " elements, got ", pads.size());
  for (auto value : pads)
    if (value < 0 || value > max_extent)
      return invalid("explicit_paddings must not be negative or beyond 32 bits, got ", value);
  for (auto axis : {0, into.channel_axis()})
    for (auto i = 2 * static_cast<size_t>(axis); i < 2 * static_cast<size_t>(axis) + 2; ++i)
      if (pads[i] != 0)
        return invalid("explicit_paddings must be 0 for images and channels, got ", pads[i]);
  for (int i = 0; i < into.spatial; ++i) {
    auto axis = static_cast<size_t>(into.axis(i));
    into.before[static_cast<size_t>(i)] = pads[2 * axis];
    into.after[static_cast<size_t>(i)] = pads[2 * axis + 1];
  }
  return {};
}

} // namespace

result<window_options> read_windows(const window_form& form, const window_attrs& attrs) {
  window_options options;
  options.spatial = form.spatial;
  auto last = form.spatial == 2 ? "NHWC" : "NDHWC", first = form.spatial == 2 ? "NCHW" : "NCDHW";
  options.channels_first = attrs.data_format == first;
  if (form.formats && !options.channels_first && attrs.data_format != last)
    return invalid("data_format must be ", last, " or ", first, ", got '", attrs.data_format, "'");
  TROUPE_ASSIGN(options.strides, spatial_part(options, "strides", attrs.strides));
  TROUPE_ASSIGN(options.dilations, spatial_part(options, "dilations", attrs.dilations));
  TROUPE_ASSIGN(options.sizes, spatial_part(options, "ksize", attrs.ksize));
  options.before.resize(options.strides.size());
  options.after = options.before;
  options.same = attrs.padding == "SAME";
  if (form.explicit_pads && attrs.padding == "EXPLICIT")
    TROUPE_TRY(read_explicit(options, *attrs.pads));
  else if (!options.same && attrs.padding != "VALID")
    return invalid("padding must be SAME", form.explicit_pads ? ", VALID or EXPLICIT" : " or VALID",
                   ", got '", attrs.padding, "'");
  else if (attrs.pads && !attrs.pads->empty())
    return invalid("explicit_paddings are for padding EXPLICIT, not ", attrs.padding);
  return options;
}

result<window_axis> window_options::place(int i, int64_t extent, int64_t size) const {
  auto at = static_cast<size_t>(i);
  window_axis placed_axis{extent, size, strides[at], dilations[at], before[at], after[at]};
  if (size < 1 || size > max_extent)
    return invalid("windows must have a positive 32-bit extent, got ", size);
  auto reach = placed_axis.reach();
  if (same) {
    placed_axis.out = (extent + placed_axis.stride - 1) / placed_axis.stride;
    auto pads = std::max<int64_t>(0, (placed_axis.out - 1) * placed_axis.stride + reach - extent);
    placed_axis.before = pads / 2;
    placed_axis.after = pads - placed_axis.before;
    return placed_axis;
  }
  auto room = extent + placed_axis.before + placed_axis.after - reach;
  if (room < 0)
    return invalid("windows of ", reach, " elements do not fit on an axis of ", extent,
                   " elements, padded by ", placed_axis.before, " and ", placed_axis.after);
  placed_axis.out = room / placed_axis.stride + 1;
  return placed_axis;
}

result<int64_t> window_options::windows(int i, int64_t extent, int64_t size) const {
  if (extent == unknown_extent || (size == unknown_extent && !same))
    return unknown_extent;
  TROUPE_ASSIGN(auto placed, place(i, extent, size == unknown_extent ? 1 : size));
  return placed.out;
}

result<window_axes> window_options::place(const shape& dims,
                                          const std::vector<int64_t>& sizes) const {
  if (dims.rank() != rank())
    return invalid("takes a tensor with ", rank(), " axes, got shape ", dims);
  window_axes axes;
  for (int i = 0; i < spatial; ++i) {
    auto& axis_i = axes[static_cast<size_t>(3 - spatial + i)];
    TROUPE_ASSIGN(axis_i, place(i, dims[axis(i)], sizes[static_cast<size_t>(i)]));
  }
  return axes;
}

result<shape> window_options::tensor_shape(int64_t images, int64_t channels,
                                           const window_axes& axes,
                                           int64_t window_axis::*extent) const {
  std::vector<int64_t> extents{images};
  for (int i = 3 - spatial; i < 3; ++i)
    extents.push_back(axes[static_cast<size_t>(i)].*extent);
  extents.insert(channels_first ? extents.begin() + 1 : extents.end(), channels);
  return shape::make(extents);
}

} // namespace troupe::ops
