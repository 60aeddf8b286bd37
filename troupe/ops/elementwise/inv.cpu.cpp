#include "troupe/ops/elementwise/reciprocal.cpu.hpp"

namespace troupe::ops::inv_cpu {

extern constexpr kernel_def inv_cpu{
    .op = "Inv",
    .run = unary_kernels<reciprocal_of>(types::floating + types::complex),
};

} // namespace troupe::ops::inv_cpu
