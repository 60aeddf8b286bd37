#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::sub_cpu {
namespace {

struct minus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return wrapping(std::minus<>{}, a, b);
  }
};

} // namespace

extern constexpr kernel_def sub_cpu{
    .op = "Sub",
    .run = binary_kernels<minus>(types::numbers),
};

} // namespace troupe::ops::sub_cpu
