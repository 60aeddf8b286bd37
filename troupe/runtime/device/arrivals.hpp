// Tensors that come to a device beside its line of launches.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// What a device may offer beside `accelerator` (accelerator.hpp).
class arrivals {
public:
  /// What is launched from now on runs after what brings the tensor: a copy from the host
  /// (swapping.hpp), or an exchange (collective.hpp). Nothing happens where nothing brings it.
  /// Launches and returns.
  virtual status arrive(const tensor& coming) = 0;

protected:
  ~arrivals() = default;
};

} // namespace troupe
