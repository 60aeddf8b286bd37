#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/elementwise/shared/output_gradients.cpu.hpp"

namespace troupe::ops::reciprocal_cpu {
namespace {

struct reciprocal_of {
  template <class T>
  T operator()(const T& x) const {
    return T{1} / x;
  }
};

struct reciprocal_slope {
  template <class T>
  T operator()(const T& y, const T& dy) const {
    auto z = conjugate_of(y);
    return dy == T{} ? T{} : -dy * z * z;
  }
};

} // namespace

extern constexpr kernel_def reciprocal_cpu{
    .op = "Reciprocal",
    .run = unary_kernels<reciprocal_of>(types::floating + types::complex),
};

extern constexpr kernel_def reciprocal_grad_cpu{
    .op = "ReciprocalGrad",
    .run = paired_kernels<reciprocal_slope>(types::floating + types::complex),
};

extern constexpr kernel_def inv_cpu{
    .op = "Inv",
    .run = unary_kernels<reciprocal_of>(types::floating + types::complex),
};

extern constexpr kernel_def inv_grad_cpu{
    .op = "InvGrad",
    .run = paired_kernels<reciprocal_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::reciprocal_cpu
