#include "troupe/ops/math/reduce.cpu.hpp"

namespace troupe::ops {
namespace {

struct multiplication : total_as_result {
  template <class T>
  static T start() {
    return T{1};
  }
  template <class T>
  static T step(const T& a, const T& b) {
    return wrapping(std::multiplies<>{}, a, b);
  }
};

} // namespace

extern constexpr kernel_def prod_cpu{
    .op = "Prod",
    .run = reduce_kernels<multiplication>(types::numbers),
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
