#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::squared_difference_cpu {
namespace {

struct squared_distance {
  template <class T>
  T operator()(const T& a, const T& b) const {
    auto d = wrapping(std::minus<>{}, a, b);
    if constexpr (is_complex<T>)
      return std::norm(d);
    else
      return wrapping(std::multiplies<>{}, d, d);
  }
};

} // namespace

extern constexpr kernel_def squared_difference_cpu{
    .op = "SquaredDifference",
    .run = binary_kernels<squared_distance>(types::floating + types::complex +
                                            type_list<int32_t, int64_t>{}),
};

} // namespace troupe::ops::squared_difference_cpu
