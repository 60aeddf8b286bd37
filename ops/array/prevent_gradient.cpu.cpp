#include "troupe/ops/array/passing.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def prevent_gradient_cpu{
    .op = "PreventGradient",
    .run = {{dtype::none, pass_inputs}},
};

} // namespace troupe::ops
