#include "troupe/ops/shape/shared/identity.hpp"

namespace troupe::ops::identity_any {

extern constexpr kernel_def identity_any{
    .op = "Identity",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

extern constexpr kernel_def identity_n_any{
    .op = "IdentityN",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

extern constexpr kernel_def stop_gradient_any{
    .op = "StopGradient",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

extern constexpr kernel_def prevent_gradient_any{
    .op = "PreventGradient",
    .run = {{dtype::none, pass_inputs}},
    .on_any_device = true,
};

extern constexpr kernel_def ensure_shape_any{
    .op = "EnsureShape",
    .run = {{dtype::none, pass_shaped}},
    .prepare = cache_attr<partial_shape, "shape">,
    .on_any_device = true,
};

} // namespace troupe::ops::identity_any
