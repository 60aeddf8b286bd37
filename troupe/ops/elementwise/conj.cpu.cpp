#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"

namespace troupe::ops::conj_cpu {
namespace {

struct conjugate {
  template <class T>
  T operator()(const T& x) const {
    return std::conj(x);
  }
};

} // namespace

extern constexpr kernel_def conj_cpu{
    .op = "Conj",
    .run = unary_kernels<conjugate>(types::complex),
};

} // namespace troupe::ops::conj_cpu
