#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

namespace troupe::ops::zeta_cpu {
namespace {

struct zeta_function {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T x, T q) const {
    return static_cast<T>(special::hurwitz_zeta(x, q));
  }
};

} // namespace

extern constexpr kernel_def zeta_cpu{
    .op = "Zeta",
    .run = binary_kernels<zeta_function>(types::floating),
};

} // namespace troupe::ops::zeta_cpu
