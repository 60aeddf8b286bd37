#include "troupe/ops/random/shared/distributions.cpu.hpp"

namespace troupe::ops::random_uniform_cpu {

extern constexpr kernel_def random_uniform_cpu{
    .op = "RandomUniform",
    .run = drawn_kernels<uniform_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_uniform_cpu
