#include "troupe/ops/random/shared/distributions.cpu.hpp"

namespace troupe::ops::random_standard_normal_cpu {

extern constexpr kernel_def random_standard_normal_cpu{
    .op = "RandomStandardNormal",
    .run = drawn_kernels<normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_standard_normal_cpu
