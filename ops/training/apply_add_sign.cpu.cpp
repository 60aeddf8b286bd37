#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct add_sign {
  static constexpr int variables = 2;
  explicit add_sign(const scalars<T>& given)
      : rate(given[0]), alpha(given[1]), decay(given[2]), beta(given[3]) {}

  void operator()(T& value, T& mean, T gradient) const {
    mean = mean * beta + gradient * (1 - beta);
    value -= rate * (alpha + decay * agreement(gradient, mean)) * gradient;
  }

  T rate, alpha, decay, beta;
};

} // namespace

extern constexpr kernel_def apply_add_sign_cpu{
    .op = "ApplyAddSign",
    .run = apply_kernels<add_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops
