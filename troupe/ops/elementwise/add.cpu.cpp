#include "troupe/ops/elementwise/add.cpu.hpp"

namespace troupe::ops::add_cpu {

extern constexpr kernel_def add_cpu{
    .op = "Add",
    .run = binary_kernels<plus>(types::numbers + types::string),
};

} // namespace troupe::ops::add_cpu
