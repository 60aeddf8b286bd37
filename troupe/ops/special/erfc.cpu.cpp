#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <cmath>

namespace troupe::ops::erfc_cpu {
namespace {

struct complementary_error_function {
  static constexpr double cost = called;
  template <class T>
  T operator()(const T& x) const {
    return std::erfc(x);
  }
};

} // namespace

extern constexpr kernel_def erfc_cpu{
    .op = "Erfc",
    .run = unary_kernels<complementary_error_function>(types::floating),
};

} // namespace troupe::ops::erfc_cpu
