troupe_add_ops(control/no_op)
