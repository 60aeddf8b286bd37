// Tensors that arrive at a device asynchronously to its stream of launches.
#pragma once
#include "troupe/runtime/types/tensor.hpp"

namespace troupe {

/// An optional interface of a device, in addition to `accelerator` (accelerator.hpp).
class pending_inputs {
public:
  /// Orders all later launches after the operation that writes the tensor: a copy from the host
  /// (swap_support.hpp) or a collective call (collective_call.hpp). Does nothing if no operation
  /// writes it. Returns without blocking.
  virtual status wait_for(const tensor& pending) = 0;

protected:
  ~pending_inputs() = default;
};

} // namespace troupe
