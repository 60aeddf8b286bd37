#include "troupe/ops/elementwise/reciprocal.cpu.hpp"

namespace troupe::ops::reciprocal_cpu {

extern constexpr kernel_def reciprocal_cpu{
    .op = "Reciprocal",
    .run = unary_kernels<reciprocal_of>(types::floating + types::complex),
};

} // namespace troupe::ops::reciprocal_cpu
