// Adds biases by a separate launch, for libraries that do not add them as they write a result.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"

namespace troupe::gpu {

/// Applied to the elements of a result (f16, bf16 or f32).
struct epilogue {
  const void* bias = nullptr; ///< a number for each channel, added unless null
  bool rectify = false;       ///< then replaces negative numbers by zero; keeps NaN
};

/// A result in memory, [outer, channels, inner].
struct biased_result {
  void* values = nullptr;
  dtype type = dtype::f32;
  int64_t outer = 0, channels = 0, inner = 1;

  int64_t elements() const { return outer * channels * inner; }
};

/// An optional interface of a driver: adds biases.
class bias_driver {
public:
  /// Launches the kernel. `applied` has a bias, and `output` is not empty.
  virtual status add_bias(const biased_result& output, const epilogue& applied, stream in) = 0;

protected:
  ~bias_driver() = default;
};

/// Launches the kernel on the compute stream of `target`.
status add_bias(gpu_device& target, const biased_result& output, const epilogue& applied);

} // namespace troupe::gpu
