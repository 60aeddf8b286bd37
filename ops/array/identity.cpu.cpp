#include "troupe/ops/array/passing.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def identity_cpu{
    .op = "Identity",
    .run = {{dtype::none, pass_inputs}},
};

} // namespace troupe::ops
