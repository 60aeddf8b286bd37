#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <bit>
#include <functional>
#include <limits>

namespace troupe::ops::bitwise_cpu {
namespace {

// The distance of a shift by y: 0 where y is negative, and at most one less than the number of
// bits.
template <class T>
T shift_distance(T y) {
  constexpr auto farthest = static_cast<T>(8 * sizeof(T) - 1);
  return y < T{0} ? T{0} : y > farthest ? farthest : y;
}

struct shifted_up {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) << shift_distance(y));
  }
};

struct shifted_down {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x >> shift_distance(y));
  }
};

struct bits_set {
  template <class T>
  uint8_t operator()(T x) const {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

} // namespace

extern constexpr kernel_def bitwise_and_cpu{
    .op = "BitwiseAnd",
    .run = binary_kernels<std::bit_and<>>(types::integers),
};

extern constexpr kernel_def bitwise_or_cpu{
    .op = "BitwiseOr",
    .run = binary_kernels<std::bit_or<>>(types::integers),
};

extern constexpr kernel_def bitwise_xor_cpu{
    .op = "BitwiseXor",
    .run = binary_kernels<std::bit_xor<>>(types::integers),
};

extern constexpr kernel_def invert_cpu{
    .op = "Invert",
    .run = unary_kernels<std::bit_not<>>(types::integers),
};

extern constexpr kernel_def left_shift_cpu{
    .op = "LeftShift",
    .run = binary_kernels<shifted_up>(types::integers),
};

extern constexpr kernel_def right_shift_cpu{
    .op = "RightShift",
    .run = binary_kernels<shifted_down>(types::integers),
};

extern constexpr kernel_def population_count_cpu{
    .op = "PopulationCount",
    .run = unary_kernels_to<uint8_t, bits_set>(types::integers),
};

} // namespace troupe::ops::bitwise_cpu
