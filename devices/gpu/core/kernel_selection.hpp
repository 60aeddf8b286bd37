// Layers that a kernel of ours and a library can both compute: tried once, then remembered.
#pragma once
#include "troupe/devices/gpu/core/layers.hpp"

#include <functional>

namespace troupe::gpu {

enum class layers_by : uint8_t {
  kernels, ///< of ours, always
  library, ///< wherever it computes the same
  fastest, ///< both are timed when a layer is first seen
};

/// Who computes a device's layers; the fastest unless it is said before the first.
void choose_layers(gpu_device& on, layers_by which);

/// Two ways to launch a layer, which write all outputs each time.
struct contenders {
  std::function<status()> ours, theirs;
  /// If there: fails where the library computes something else, which is asked once.
  std::function<status()> agree = {};
  bool once = false; ///< an output lies over an input: nothing may be tried
};

/// Launches the layer in the way that is faster on this GPU. Where that is not known yet, runs
/// both, which waits for the device; not while launches are noted down, where ours is taken. What
/// the library refuses is ours.
status launch_best(gpu_device& on, const layer& what, const contenders& by);

/// Whether there is nothing to be tried any more: an output may as well lie over an input.
bool is_tuned(gpu_device& on, const layer& what);

} // namespace troupe::gpu
