// Shared by the kernels of Assign.
#pragma once
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops {

inline result<std::shared_ptr<void>> keep_validation(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<bool>(setup.origin.attr<bool>("validate_shape"))};
}

/// The variable takes over the tensor, in whatever memory it is.
inline status assign_input(kernel_context& at) {
  auto& variable = at.variable(0);
  const auto& value = at.input(1);
  if (at.state<bool>())
    if (auto old_value = variable.read(); old_value && !(old_value->dims() == value.dims()))
      return invalid("variable '", variable.name(), "' has a value of shape ", old_value->dims(),
                     ", and is assigned one of shape ", value.dims(),
                     "; validate_shape=false allows that");
  return variable.assign(value);
}

} // namespace troupe::ops
