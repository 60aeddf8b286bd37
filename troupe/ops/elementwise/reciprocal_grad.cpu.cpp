#include "troupe/ops/elementwise/reciprocal.cpu.hpp"

namespace troupe::ops::reciprocal_grad_cpu {

extern constexpr kernel_def reciprocal_grad_cpu{
    .op = "ReciprocalGrad",
    .run = paired_kernels<reciprocal_slope>(types::floating + types::complex),
};

} // namespace troupe::ops::reciprocal_grad_cpu
