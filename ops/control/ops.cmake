troupe_add_ops(
  control/assert_
  control/no_op
  control/print
  control/print_v2)
