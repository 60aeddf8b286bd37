#include "troupe/ops/random/shared/distributions.cpu.hpp"

namespace troupe::ops::stateless_random_uniform_cpu {

extern constexpr kernel_def stateless_random_uniform_cpu{
    .op = "StatelessRandomUniform",
    .run = stateless_kernels<uniform_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::stateless_random_uniform_cpu
