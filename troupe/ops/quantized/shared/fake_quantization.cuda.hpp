// Ranges that kernels of GPUs read on the device.
#pragma once
#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/quantized/shared/fake_quantization.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The range in two inputs.
struct device_range {
  const float *least, *most;
  bit_range whole;
  device_errors wrong;

  device_range(kernel_context& at, int input)
      : least(at.input(input).data<float>()), most(at.input(input + 1).data<float>()),
        whole(at.state<bit_range>()),
        wrong(at, "min must be at most 0, max at least 0, and not both 0") {}

  TROUPE_DEVICE bool is_empty() const { return *least == 0 && *most == 0; }
  /// Everything where the range is no range.
  TROUPE_DEVICE nudged_range get() const {
    if (nudged_range::nudges(*least, *most))
      return nudged_range::nudged(*least, *most, whole);
    constexpr auto infinity = std::numeric_limits<float>::infinity();
    if (!is_empty())
      wrong.add();
    return {-infinity, infinity, 0};
  }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu
