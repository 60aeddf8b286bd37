#include "troupe/ops/state/shared/assignment.hpp"

namespace troupe::ops::assign_cpu {

extern constexpr kernel_def assign_cpu{
    .op = "Assign",
    .run = {{dtype::none, assign_input}},
    .prepare = keep_validation,
};

} // namespace troupe::ops::assign_cpu
