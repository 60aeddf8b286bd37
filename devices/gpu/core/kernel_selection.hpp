// Chooses between a kernel of Troupe and a library for a layer: timed once, then remembered.
#pragma once
#include "troupe/devices/gpu/core/layers.hpp"

#include <functional>

namespace troupe::gpu {

enum class layers_by : uint8_t {
  kernels, ///< always Troupe's kernels
  library, ///< the library wherever it computes the same
  fastest, ///< both are timed when a layer first occurs
};

/// Sets how a device chooses, before its first layer. The default is the fastest.
void choose_layers(gpu_device& target, layers_by selected);

/// Two ways to launch a layer. Each launch writes all outputs.
struct contenders {
  std::function<status()> own_kernel, library_kernel;
  /// If set: fails if the library computes something else. Called before each trial of the library,
  /// not before later launches.
  std::function<status()> check_library = {};
  bool overwrites_input = false; ///< an output overwrites an input: no trial runs
};

/// Launches the layer in the way that is faster on this GPU. If that is not known yet, times both,
/// which waits for the device; but during a capture, launches Troupe's kernel. Launches that
/// kernel, too, if the library refuses the layer.
status launch_best(gpu_device& target, const layer& problem, const contenders& launchers);

/// Whether no more trials will run, so that an output may overwrite an input.
bool is_tuned(gpu_device& target, const layer& problem);

} // namespace troupe::gpu
