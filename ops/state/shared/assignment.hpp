// What the kernels of Assign share.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline result<std::shared_ptr<void>> keep_validation(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<bool>(setup.of.attr<bool>("validate_shape"))};
}

/// The variable takes the tensor over, whatever memory it lies in.
inline status assign_input(kernel_context& at) {
  auto& variable = at.variable(0);
  const auto& value = at.input(1);
  if (at.state<bool>())
    if (auto before = variable.read(); before && !(before->dims() == value.dims()))
      return invalid("variable '", variable.name(), "' has a value of shape ", before->dims(),
                     ", and is assigned one of shape ", value.dims(),
                     "; validate_shape=false allows that");
  return variable.assign(value);
}

} // namespace troupe::ops
