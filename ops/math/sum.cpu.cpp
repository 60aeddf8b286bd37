#include "troupe/ops/math/reduce.cpu.hpp"

namespace troupe::ops {
namespace {

struct addition : total_as_result {
  template <class T>
  static T start() {
    return T{};
  }
  template <class T>
  static T step(const T& a, const T& b) {
    return wrapping(std::plus<>{}, a, b);
  }
};

} // namespace

extern constexpr kernel_def sum_cpu{
    .op = "Sum",
    .run = reduce_kernels<addition>(types::numbers),
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
