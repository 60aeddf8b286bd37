#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

namespace troupe::ops::igamma_cpu {
namespace {

struct lower_incomplete_gamma {
  static constexpr double cost = 20 * called;
  template <class T>
  T operator()(T a, T x) const {
    return static_cast<T>(special::lower_gamma(a, x));
  }
};

} // namespace

extern constexpr kernel_def igamma_cpu{
    .op = "Igamma",
    .run = binary_kernels<lower_incomplete_gamma>(types::floating),
};

} // namespace troupe::ops::igamma_cpu
