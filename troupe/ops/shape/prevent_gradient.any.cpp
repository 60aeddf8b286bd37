#include "troupe/ops/shape/shared/identity.hpp"

namespace troupe::ops::prevent_gradient_any {

extern constexpr kernel_def prevent_gradient_any{
    .op = "PreventGradient",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

} // namespace troupe::ops::prevent_gradient_any
