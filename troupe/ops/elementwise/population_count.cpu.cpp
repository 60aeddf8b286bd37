#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

#include <bit>

namespace troupe::ops::population_count_cpu {
namespace {

struct bits_set {
  template <class T>
  uint8_t operator()(T x) const {
    return static_cast<uint8_t>(std::popcount(static_cast<std::make_unsigned_t<T>>(x)));
  }
};

} // namespace

extern constexpr kernel_def population_count_cpu{
    .op = "PopulationCount",
    .run = unary_kernels_to<uint8_t, bits_set>(types::integers),
};

} // namespace troupe::ops::population_count_cpu
