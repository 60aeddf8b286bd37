#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::xlogy_cpu {
namespace {

struct times_logarithm {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x, const T& y) const {
    return x == T{} ? T{} : x * std::log(y);
  }
};

} // namespace

extern constexpr kernel_def xlogy_cpu{
    .op = "Xlogy",
    .run = binary_kernels<times_logarithm>(types::floating + types::complex),
};

} // namespace troupe::ops::xlogy_cpu
