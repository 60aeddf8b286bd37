// Shared by the kernels of LeakyRelu and of its gradient on all devices.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

/// TensorFlow's attribute alpha is a float for every element type.
inline result<std::shared_ptr<void>> prepare_leak(const kernel_setup& setup) {
  return std::shared_ptr<void>{
      std::make_shared<float>(static_cast<float>(setup.origin.attr<double>("alpha")))};
}

} // namespace troupe::ops
