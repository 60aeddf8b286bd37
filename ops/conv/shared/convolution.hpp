// Shared by the definitions and the kernels of all convolutions.
//
// A convolution relates three tensors: an input, a filter and an output. An op computes one of them
// from the other two: the output, or the gradient with respect to the input or the filter. So the
// gradient of each op consists of the two other ops.
#pragma once
#include "troupe/ops/define/windows.hpp"
#include "troupe/runtime/graph/gradient_context.hpp"
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops {

enum class convolution_family : uint8_t { plain_2d, depthwise_2d, plain_3d };
enum class convolution_role : uint8_t { input, filter, output };

struct convolution_form {
  convolution_family family;
  convolution_role computes;

  bool depthwise() const { return family == convolution_family::depthwise_2d; }
  window_form windows() const {
    if (family == convolution_family::plain_3d)
      return {.spatial = 3, .dilated = true};
    return {.spatial = 2, .dilated = true, .explicit_pads = true};
  }
};

/// QuantizedConv2D has fewer attributes.
inline constexpr window_form quantized_convolution_form{.formats = false, .dilated = true};

/// A convolution of known extents; the filter is [axes..., in_channels / groups, out_channels].
struct convolution_shape {
  int spatial = 2;
  bool channels_first = false;
  int64_t images = 0, in_channels = 0, out_channels = 0, groups = 1;
  window_axes axes{};

  bool operator==(const convolution_shape&) const = default;
  int64_t group_inputs() const { return in_channels / groups; }
  int64_t group_outputs() const { return out_channels / groups; }
  int64_t inputs() const { return axes[0].in * axes[1].in * axes[2].in; }       ///< per channel
  int64_t outputs() const { return axes[0].out * axes[1].out * axes[2].out; }   ///< per channel
  int64_t window() const { return axes[0].size * axes[1].size * axes[2].size; } ///< per channel
  double multiplications() const;
};

/// Fails where input and filter do not match.
result<convolution_shape> fit_convolution(const window_options& options, bool depthwise,
                                          const shape& input, const shape& filter);
result<shape> output_of(const window_options& options, const convolution_shape& geometry);
/// The shape of the output, as far as it is known.
result<partial_shape> infer_convolved(const window_options& options, bool depthwise,
                                      const partial_shape& input, const partial_shape& filter);

result<shapes> infer_convolution(const infer_context& at, convolution_form form);
edges convolution_gradient(gradient_context& at, convolution_form form);
double convolution_flops(const node& from_node, convolution_form form);

/// The same as function pointers for a definition.
template <convolution_family Family, convolution_role Role>
struct convolution_functions {
  static constexpr convolution_form form{Family, Role};
  static result<shapes> infer(const infer_context& at) { return infer_convolution(at, form); }
  static edges gradient(gradient_context& at) { return convolution_gradient(at, form); }
  static double flops(const node& from_node) { return convolution_flops(from_node, form); }
};

} // namespace troupe::ops
