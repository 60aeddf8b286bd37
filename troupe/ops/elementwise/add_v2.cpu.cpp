#include "troupe/ops/elementwise/add.cpu.hpp"

namespace troupe::ops::add_v2_cpu {

extern constexpr kernel_def add_v2_cpu{
    .op = "AddV2",
    .run = binary_kernels<plus>(types::numbers),
};

} // namespace troupe::ops::add_v2_cpu
