#include "troupe/ops/shape/shared/identity.hpp"

namespace troupe::ops::ensure_shape_any {

extern constexpr kernel_def ensure_shape_any{
    .op = "EnsureShape",
    .run = {{dtype::none, pass_shaped}},
    .prepare = cache_attr<partial_shape, "shape">,
    .on_any_device = true,
};

} // namespace troupe::ops::ensure_shape_any
