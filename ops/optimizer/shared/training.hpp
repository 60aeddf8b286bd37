// Shared by the ops that apply a gradient to a variable and its slots: the roles of the inputs,
// their checks, and the locks.
#pragma once
#include "troupe/runtime/graph/infer.hpp"
#include "troupe/runtime/graph/kernel.hpp"

#include <functional>

namespace troupe::ops {

/// The roles of the inputs of such an op. All other inputs are scalars.
struct training_roles {
  int variables = 0; ///< the first inputs: the variable, then its slots
  int gradient = -1;
  int indices = -1; ///< the rows of the gradient; -1 where it has all rows
};

constexpr training_roles roles_of(const port_list& inputs) {
  training_roles roles;
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const auto& port = inputs[static_cast<size_t>(i)];
    if (port.ref)
      ++roles.variables;
    else if (port.name == "grad" || port.name == "delta")
      roles.gradient = i;
    else if (port.name == "indices")
      roles.indices = i;
  }
  return roles;
}

/// Variable, slots and gradient have one shape; a gradient with indices has only these rows.
result<shapes> infer_training(const infer_context& at, training_roles roles);

template <training_roles Roles>
result<shapes> infer_training(const infer_context& at) {
  return infer_training(at, Roles);
}

/// The attributes that a kernel keeps.
struct training_state {
  training_roles roles;
  bool use_locking = true;
  bool variant = false; ///< the op's own attribute, such as use_nesterov
};

/// For kernel_def::prepare.
result<std::shared_ptr<void>> keep_training(const kernel_setup& setup);

/// The scalar inputs, in order.
using training_inputs = inplace_vector<const tensor*, 8>;
result<training_inputs> scalar_inputs(const kernel_context& at);

/// The values of the scalar inputs.
result<std::array<double, 8>> training_scalars(const kernel_context& at);

/// Calls the body with the values of the first `count` inputs, which are variables. With
/// `use_locking`, they are locked meanwhile. Fails for a variable that is given twice.
using values_body = std::function<status(std::span<tensor* const>)>;
status update_variables(kernel_context& at, int count, bool use_locking, const values_body& body);

/// Fails where the variables, or the variable and a gradient without indices, differ in shape.
status check_training(const kernel_context& at, std::span<tensor* const> values);

} // namespace troupe::ops
