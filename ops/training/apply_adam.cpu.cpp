#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct adam {
  static constexpr int variables = 3;
  explicit adam(const scalars<T>& given)
      : rate(given[2] * std::sqrt(1 - given[1]) / (1 - given[0])), beta1(given[3]), beta2(given[4]),
        epsilon(given[5]), nesterov(given.variant) {}

  void operator()(T& value, T& mean, T& squares, T gradient) const {
    mean += (gradient - mean) * (1 - beta1);
    squares += (gradient * gradient - squares) * (1 - beta2);
    auto direction = nesterov ? gradient * (1 - beta1) + beta1 * mean : mean;
    value -= rate * direction / (std::sqrt(squares) + epsilon);
  }

  T rate, beta1, beta2, epsilon;
  bool nesterov;
};

} // namespace

extern constexpr kernel_def apply_adam_cpu{
    .op = "ApplyAdam",
    .run = apply_kernels<adam>(),
    .prepare = keep_training,
};

} // namespace troupe::ops
