#include "troupe/ops/math/elementwise.cpu.hpp"

namespace troupe::ops {
namespace {

struct plus {
  template <class T>
  T operator()(const T& a, const T& b) const {
    return wrapping(std::plus<>{}, a, b);
  }
};

} // namespace

extern constexpr kernel_def add_cpu{
    .op = "Add",
    .run = binary_kernels<plus>(types::numbers + types::string),
};

} // namespace troupe::ops
