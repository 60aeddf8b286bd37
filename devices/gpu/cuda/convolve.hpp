// Convolutions on NVIDIA GPUs, by cuDNN.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"

#include <array>

namespace troupe::gpu {

enum class convolved : uint8_t { input, filter, output };

/// A convolution of dense tensors: input and output are [images, channels, axes...], the filter is
/// [out_channels, in_channels / groups, axes...]; or the channels come last in all of them.
struct convolution {
  /// Both ends of an axis are padded by as much.
  struct axis {
    int64_t in = 1, size = 1, stride = 1, dilation = 1, pad = 0, out = 1;
    auto operator<=>(const axis&) const = default;
  };

  convolved computes = convolved::output; ///< or the gradient of input or filter
  dtype type = dtype::f32;                ///< f16, bf16, f32 or f64; halves are added up as floats
  bool channels_last = false;
  int spatial = 2; ///< 2 or 3: how many of the axes there are
  int64_t images = 0, in_channels = 0, out_channels = 0, groups = 1;
  std::array<axis, 3> axes = {};
  /// By an algorithm that gives the same bits each time, and is not chosen by its speed.
  bool deterministic = false;

  auto operator<=>(const convolution&) const = default;
};

/// Launches it; no extent is 0. One of the three tensors is written. What it needs in between is
/// taken from `memory`. An error of kind `unimplemented` means that cuDNN does not compute this one
/// with channels where they are. The first time that a device sees a convolution, its algorithms
/// are run on these very tensors and timed, which waits for the device; not while it records. An
/// output (f16, bf16 or f32) may have a bias for each channel: that is one more thing that is
/// timed, joined to the convolution or apart.
status convolve(gpu_device& on, allocator& memory, const convolution& what, void* input,
                void* filter, void* output, const epilogue& last = {});

/// Whether algorithms are chosen by their speed, or by cuDNN's advice alone. To be said before the
/// device's first convolution; they are measured unless it is.
void measure_convolutions(gpu_device& on, bool may);

} // namespace troupe::gpu
