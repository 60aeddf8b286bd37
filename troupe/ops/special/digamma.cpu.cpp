#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/special/shared/special_functions.hpp"

namespace troupe::ops::digamma_cpu {
namespace {

struct digamma_function {
  static constexpr double cost = 5 * called;
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(special::digamma(x));
  }
};

} // namespace

extern constexpr kernel_def digamma_cpu{
    .op = "Digamma",
    .run = unary_kernels<digamma_function>(types::floating),
};

} // namespace troupe::ops::digamma_cpu
