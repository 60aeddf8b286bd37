troupe_add_ops(
  state/apply_gradient_descent
  state/assign
  state/assign_add
  state/assign_sub
  state/is_variable_initialized
  state/variable_v2)
