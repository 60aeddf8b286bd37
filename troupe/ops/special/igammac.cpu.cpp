#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

namespace troupe::ops::igammac_cpu {
namespace {

struct upper_incomplete_gamma {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(special::upper_gamma(a, x));
  }
};

} // namespace

extern constexpr kernel_def igammac_cpu{
    .op = "Igammac",
    .run = binary_kernels<upper_incomplete_gamma>(types::floating),
};

} // namespace troupe::ops::igammac_cpu
