// Convolutions on NVIDIA GPUs, by cuDNN.
#pragma once
#include "troupe/devices/gpu/core/add_bias.hpp"

#include <array>

namespace troupe::gpu {

enum class convolved : uint8_t { input, filter, output };

/// A convolution of dense tensors: input and output are [images, channels, axes...], the filter is
/// [out_channels, in_channels / groups, axes...]; with `channels_last`, the channels are last in
/// all.
struct convolution {
  /// Both ends of an axis are padded by `pad`.
  struct axis {
    int64_t in = 1, size = 1, stride = 1, dilation = 1, pad = 0, out = 1;
    auto operator<=>(const axis&) const = default;
  };

  convolved computes = convolved::output; ///< or the gradient of input or filter
  dtype type = dtype::f32;                ///< f16, bf16, f32 or f64; halves are summed as f32
  bool channels_last = false;
  int spatial = 2; ///< the number of axes in use: 2 or 3
  int64_t images = 0, in_channels = 0, out_channels = 0, groups = 1;
  std::array<axis, 3> axes = {};
  /// Chooses an algorithm that gives the same bits each time, not by its speed.
  bool deterministic = false;

  auto operator<=>(const convolution&) const = default;
};

/// Launches a convolution; no extent is 0. One of the three tensors is the output. Workspace is
/// allocated from `memory`. An error of kind `unimplemented` means that cuDNN does not support this
/// convolution in this memory layout. The first launch of a convolution on a device times its
/// algorithms with these tensors, which waits for the device; not during a capture. An output (f16,
/// bf16 or f32) may have a bias for each channel, whose forms, joined to the convolution or apart,
/// are timed as well.
status convolve(gpu_device& target, allocator& memory, const convolution& problem, void* input,
                void* filter, void* output, const epilogue& last = {});

/// Sets whether algorithms are chosen by measured speed (the default), or by cuDNN's advice alone.
/// Must be called before the device's first convolution.
void measure_convolutions(gpu_device& target, bool enabled);

} // namespace troupe::gpu
