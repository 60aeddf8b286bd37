#include "troupe/ops/elementwise/shared/remainder.cpu.hpp"

namespace troupe::ops::mod_cpu {

extern constexpr kernel_def mod_cpu{
    .op = "Mod",
    .run = division_kernels<truncated_remainder>(types::real_numbers),
};

} // namespace troupe::ops::mod_cpu
