// Biases that a GPU's library does not add as it writes a result: a launch of its own does.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

namespace troupe::gpu {

/// What is done to the numbers of a result (f16, bf16 or f32).
struct epilogue {
  const void* bias = nullptr; ///< a number for each channel, added if there is one
  bool rectify = false;       ///< then replaces what is negative by zero; NaN stays
};

/// A result in memory, [outer, channels, inner].
struct biased_result {
  void* values = nullptr;
  dtype type = dtype::f32;
  int64_t outer = 0, channels = 0, inner = 1;

  int64_t elements() const { return outer * channels * inner; }
};

/// What a driver may be, beside a driver: one that adds biases.
class bias_driver {
public:
  /// Launches it; there is a bias, and there are elements.
  virtual status add_bias(const biased_result& to, const epilogue& what, stream in) = 0;

protected:
  ~bias_driver() = default;
};

/// Launches it behind what the device was given.
status add_bias(gpu_device& on, const biased_result& to, const epilogue& what);

} // namespace troupe::gpu
