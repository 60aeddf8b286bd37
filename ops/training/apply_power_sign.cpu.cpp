#include "troupe/ops/training/apply.cpu.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct power_sign {
  static constexpr int variables = 2;
  explicit power_sign(const scalars<T>& given)
      : rate(given[0]), longer(std::exp(given[1] * given[2])), beta(given[3]) {}

  void operator()(T& value, T& mean, T gradient) const {
    mean = mean * beta + gradient * (1 - beta);
    auto agree = agreement(gradient, mean);
    value -= rate * (agree > 0 ? longer : agree < 0 ? 1 / longer : T{1}) * gradient;
  }

  T rate, longer, beta;
};

} // namespace

extern constexpr kernel_def apply_power_sign_cpu{
    .op = "ApplyPowerSign",
    .run = apply_kernels<power_sign>(),
    .prepare = keep_training,
};

} // namespace troupe::ops
