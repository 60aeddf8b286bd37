#include "troupe/ops/elementwise/shared/remainder.cpu.hpp"

namespace troupe::ops::truncate_mod_cpu {

extern constexpr kernel_def truncate_mod_cpu{
    .op = "TruncateMod",
    .run = division_kernels<truncated_remainder>(types::real_numbers),
};

} // namespace troupe::ops::truncate_mod_cpu
