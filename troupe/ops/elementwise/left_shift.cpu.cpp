#include "troupe/ops/elementwise/shared/shift.cpu.hpp"

namespace troupe::ops::left_shift_cpu {
namespace {

struct shifted_up {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << shift_distance(y));
  }
};

} // namespace

extern constexpr kernel_def left_shift_cpu{
    .op = "LeftShift",
    .run = binary_kernels<shifted_up>(types::integers),
};

} // namespace troupe::ops::left_shift_cpu
