// Windows that slide over the spatial axes of a tensor: shared by convolutions and poolings.
#pragma once
#include "troupe/runtime/types/shape.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::ops {

/// The positions of windows along one axis: window i has its elements at i * stride - before + k *
/// dilation, for k in [0, size).
template <class Int>
struct basic_window_axis {
  Int in = 1, size = 1, stride = 1, dilation = 1, before = 0, after = 0, out = 1;

  bool operator==(const basic_window_axis&) const = default;
  constexpr Int reach() const { return (size - 1) * dilation + 1; }
  /// The elements k of window i that lie on the axis: [first, last).
  constexpr Int first_in(Int i) const {
    auto start = i * stride - before;
    return start >= 0 ? 0 : (dilation - 1 - start) / dilation;
  }
  constexpr Int last_in(Int i) const {
    auto start = i * stride - before;
    return start >= in ? 0 : std::min(size, (in - start + dilation - 1) / dilation);
  }
  /// The windows that contain the element: as their element k, for each k of [first, last) for
  /// which `is_of` holds. The window is then window_of(k).
  constexpr Int first_of(Int element) const {
    return std::max<Int>(0, element + before - (out - 1) * stride + dilation - 1) / dilation;
  }
  constexpr Int last_of(Int element) const {
    return std::min<Int>(size, (element + before) / dilation + 1);
  }
  constexpr bool is_of(Int element, Int k) const {
    return (element + before - k * dilation) % stride == 0;
  }
  constexpr Int window_of(Int element, Int k) const {
    return (element + before - k * dilation) / stride;
  }
  /// Calls `visit(k, window)` for each window that contains the element.
  template <class Visit>
  constexpr void for_each_window(Int element, Visit&& visit) const {
    for (auto k = first_of(element); k < last_of(element); ++k)
      if (is_of(element, k))
        visit(k, window_of(element, k));
  }
};

using window_axis = basic_window_axis<int64_t>;

/// Depth, rows and columns. Axes that a tensor lacks come first, with an extent of 1.
using window_axes = std::array<window_axis, 3>;

/// The attributes that an op may have beside strides and padding.
struct window_form {
  int spatial = 2;
  bool formats = true;        ///< has data_format
  bool dilated = false;       ///< has dilations
  bool explicit_pads = false; ///< has explicit_paddings
  bool pools = false;         ///< has ksize
};

/// The values of the attributes, for spatial axes in the order of the tensor.
struct window_options {
  int spatial = 2;
  bool channels_first = false;
  bool same = false; ///< pads so that the output has extent / stride windows, rounded up
  std::vector<int64_t> sizes, strides, dilations, before, after;

  int rank() const { return spatial + 2; }
  int channel_axis() const { return channels_first ? 1 : spatial + 1; }
  int axis(int i) const { return i + (channels_first ? 2 : 1); }
  /// Places windows of that size along spatial axis i. Fails where no window fits.
  result<window_axis> place(int i, int64_t extent, int64_t size) const;
  /// The extent of the output, as far as extent and size are known.
  result<int64_t> windows(int i, int64_t extent, int64_t size) const;
  /// Places windows of these sizes along all axes of a tensor, which must have the op's rank.
  result<window_axes> place(const shape& dims, const std::vector<int64_t>& sizes) const;
  /// The shape with these spatial axes.
  result<shape> tensor_shape(int64_t images, int64_t channels, const window_axes& axes,
                             int64_t window_axis::*extent) const;
};

/// The attributes of an op as they are written in the graph.
struct window_attrs {
  std::string_view padding, data_format = "";
  const std::vector<int64_t>*strides, *dilations = nullptr, *pads = nullptr, *ksize = nullptr;
};
result<window_options> read_windows(const window_form& form, const window_attrs& attrs);

/// Reads the attributes from a node, or from the context of a shape or gradient function.
template <class At>
result<window_options> read_windows(const At& at, const window_form& form) {
  using integers = std::vector<int64_t>;
  window_attrs attrs{.padding = at.template attr<std::string>("padding"),
                     .strides = &at.template attr<integers>("strides")};
  if (form.formats)
    attrs.data_format = at.template attr<std::string>("data_format");
  if (form.dilated)
    attrs.dilations = &at.template attr<integers>("dilations");
  if (form.explicit_pads)
    attrs.pads = &at.template attr<integers>("explicit_paddings");
  if (form.pools)
    attrs.ksize = &at.template attr<integers>("ksize");
  return read_windows(form, attrs);
}

} // namespace troupe::ops
