#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct ada_max {
  static constexpr int variables = 3;
  explicit ada_max(const scalars<T>& given)
      : rate(given[1] / (1 - given[0])), beta1(given[2]), beta2(given[3]), epsilon(given[4]) {}

  void operator()(T& value, T& mean, T& largest, T gradient) const {
    mean += (gradient - mean) * (1 - beta1);
    largest = std::max(beta2 * largest, std::abs(gradient));
    value -= rate * mean / (largest + epsilon);
  }

  T rate, beta1, beta2, epsilon;
};

} // namespace

extern constexpr kernel_def apply_ada_max_cpu{
    .op = "ApplyAdaMax",
    .run = apply_kernels<ada_max>(),
    .prepare = keep_training,
};

} // namespace troupe::ops
