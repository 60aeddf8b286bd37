#include "troupe/ops/elementwise/shared/shift.cpu.hpp"

namespace troupe::ops::right_shift_cpu {
namespace {

struct shifted_down {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x >> shift_distance(y));
  }
};

} // namespace

extern constexpr kernel_def right_shift_cpu{
    .op = "RightShift",
    .run = binary_kernels<shifted_down>(types::integers),
};

} // namespace troupe::ops::right_shift_cpu
