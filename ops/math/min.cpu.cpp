#include "troupe/ops/math/reduce.cpu.hpp"

#include <limits>

namespace troupe::ops {
namespace {

struct smallest : total_as_result {
  template <class T>
  static T start() {
    if constexpr (std::is_floating_point_v<T>)
      return std::numeric_limits<T>::infinity();
    else
      return std::numeric_limits<T>::max();
  }
  template <class T>
  static T step(T a, T b) {
    return b < a || is_nan(b) ? b : a;
  }
};

} // namespace

extern constexpr kernel_def min_cpu{
    .op = "Min",
    .run = reduce_kernels<smallest>(types::real_numbers),
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
