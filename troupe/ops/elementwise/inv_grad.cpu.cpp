#include "troupe/ops/elementwise/reciprocal.cpu.hpp"

namespace troupe::ops::inv_grad_cpu {

extern constexpr kernel_def inv_grad_cpu{
    .op = "InvGrad",
    .run = paired_kernels<reciprocal_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::inv_grad_cpu
