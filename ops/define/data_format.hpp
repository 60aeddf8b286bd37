// The position of the channels: the attribute `data_format` of TensorFlow's nn ops.
#pragma once
#include "troupe/runtime/types/shape.hpp"

#include <string_view>

namespace troupe::ops {

/// Returns whether the channels are axis 1 instead of the last. Fails for an unknown format.
inline result<bool> channels_come_first(std::string_view data_format) {
  if (data_format == "NHWC" || data_format == "NDHWC")
    return false;
  if (data_format == "NCHW" || data_format == "NCDHW")
    return true;
  return invalid("data_format must be NHWC or NCHW, got '", data_format, "'");
}

/// A tensor's extents as [outer, channels, inner], for either format.
struct channel_view {
  int64_t outer = 1, channels = 1, inner = 1;
};

/// Fails when there are fewer than two axes.
inline result<channel_view> view_channels(const shape& dims, bool first) {
  if (dims.rank() < 2)
    return invalid("a value with channels must have at least 2 axes, got shape ", dims);
  auto axis = first ? 1 : dims.rank() - 1;
  channel_view view;
  for (int i = 0; i < dims.rank(); ++i)
    (i < axis ? view.outer : i == axis ? view.channels : view.inner) *= dims[i];
  return view;
}

} // namespace troupe::ops
