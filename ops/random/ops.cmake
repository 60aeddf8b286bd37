troupe_add_ops(
  random/random_standard_normal
  random/random_uniform
  random/random_uniform_int
  random/truncated_normal)
