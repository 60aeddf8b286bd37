#include "troupe/ops/math/reduce.cpu.hpp"

namespace troupe::ops {
namespace {

struct average {
  template <class T>
  static T start() {
    return T{};
  }
  template <class T>
  static T step(const T& a, const T& b) {
    return wrapping(std::plus<>{}, a, b);
  }
  template <class T>
  static T finish(const T& total, int64_t count) {
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
      return count ? static_cast<T>(total / count) : T{};
    else if constexpr (std::is_integral_v<T>)
      return count ? static_cast<T>(total / static_cast<uint64_t>(count)) : T{};
    else if constexpr (is_complex<T>)
      return total / static_cast<typename T::value_type>(count);
    else
      return total / static_cast<T>(count);
  }
};

} // namespace

extern constexpr kernel_def mean_cpu{
    .op = "Mean",
    .run = reduce_kernels<average>(types::numbers),
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
