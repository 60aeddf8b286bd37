#include "troupe/ops/random/shared/distributions.cpu.hpp"

namespace troupe::ops::truncated_normal_cpu {

extern constexpr kernel_def truncated_normal_cpu{
    .op = "TruncatedNormal",
    .run = drawn_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::truncated_normal_cpu
