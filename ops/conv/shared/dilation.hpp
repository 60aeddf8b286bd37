// Shared by the definitions of morphological dilations.
#pragma once
#include "troupe/ops/define/build.hpp"
#include "troupe/ops/define/windows.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

/// Reads the attributes of a dilation from a node, or from a shape function's context.
template <class At>
result<window_options> read_dilation(const At& at) {
  using integers = std::vector<int64_t>;
  const auto& rates = at.template attr<integers>("rates");
  if (rates.size() != 4 || rates[0] != 1 || rates[3] != 1 || std::min(rates[1], rates[2]) < 1)
    return invalid("rates must be four positive numbers, 1 for images and channels");
  return read_windows({.formats = false, .dilated = true},
                      {.padding = at.template attr<std::string>("padding"),
                       .data_format = "",
                       .strides = &at.template attr<integers>("strides"),
                       .dilations = &rates});
}

/// The output's shape for an input [images, rows, columns, channels] and a filter [rows, columns,
/// channels].
result<partial_shape> infer_dilated(const infer_context& at);

/// Input 2 has the output's shape; output 0 has the shape of input Like.
template <int Like>
result<shapes> infer_dilation_gradient(const infer_context& at) {
  TROUPE_ASSIGN(auto dilated, infer_dilated(at));
  TROUPE_TRY(merge(dilated, at.input(2)).status());
  return shapes{at.input(Like)};
}

inline constexpr attr_list dilation_attrs{{"T", real_numbers},
                                          {"strides", attr_kind::integers},
                                          {"rates", attr_kind::integers},
                                          {"padding", attr_kind::text}};

/// Completes the form of a gradient.
constexpr op_def dilation_gradient(op_def def) {
  def.inputs = {{"input", "T"}, {"filter", "T"}, {"out_backprop", "T"}};
  def.attrs = dilation_attrs;
  def.no_gradient = "it would need the elements that were largest, for which there is no op";
  return def;
}

} // namespace troupe::ops
