#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

namespace troupe::ops::polygamma_cpu {
namespace {

struct polygamma_function {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(special::polygamma(a, x));
  }
};

} // namespace

extern constexpr kernel_def polygamma_cpu{
    .op = "Polygamma",
    .run = binary_kernels<polygamma_function>(types::floating),
};

} // namespace troupe::ops::polygamma_cpu
