// Tensors that come to a device beside its line of launches.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// What a device may offer beside `accelerator` (accelerator.hpp).
class pending_inputs {
public:
  /// What is launched from now on runs after what brings the tensor: a copy from the host
  /// (swapping.hpp), or an exchange (collective.hpp). Nothing happens where nothing brings it.
  /// Launches and returns.
  virtual status wait_for(const tensor& pending) = 0;

protected:
  ~pending_inputs() = default;
};

} // namespace troupe
