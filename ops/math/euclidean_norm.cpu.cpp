#include "troupe/ops/math/reduce.cpu.hpp"

#include <cmath>

namespace troupe::ops {
namespace {

struct length {
  template <class T>
  static T start() {
    return T{};
  }
  template <class T>
  static T map(const T& x) {
    if constexpr (is_complex<T>)
      return x.real() * x.real() + x.imag() * x.imag();
    else
      return wrapping(std::multiplies<>{}, x, x);
  }
  template <class T>
  static T step(const T& a, const T& b) {
    return wrapping(std::plus<>{}, a, b);
  }
  template <class T>
  static T finish(const T& total, int64_t) {
    if constexpr (is_complex<T>)
      return std::sqrt(total.real());
    else if constexpr (std::is_integral_v<T>) // a sum that wrapped around may be negative
      return total > 0 ? static_cast<T>(std::sqrt(static_cast<double>(total))) : T{};
    else
      return std::sqrt(total);
  }
};

} // namespace

extern constexpr kernel_def euclidean_norm_cpu{
    .op = "EuclideanNorm",
    .run = reduce_kernels<length>(types::numbers),
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
