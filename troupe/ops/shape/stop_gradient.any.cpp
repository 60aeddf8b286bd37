#include "troupe/ops/shape/shared/identity.hpp"

namespace troupe::ops::stop_gradient_any {

extern constexpr kernel_def stop_gradient_any{
    .op = "StopGradient",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

} // namespace troupe::ops::stop_gradient_any
