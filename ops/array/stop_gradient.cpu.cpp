#include "troupe/ops/array/passing.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def stop_gradient_cpu{
    .op = "StopGradient",
    .run = {{dtype::none, pass_inputs}},
};

} // namespace troupe::ops
