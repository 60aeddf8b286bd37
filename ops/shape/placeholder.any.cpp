#include "troupe/ops/shape/shared/identity.hpp"

namespace troupe::ops::placeholder_any {

extern constexpr kernel_def placeholder_with_default_any{
    .op = "PlaceholderWithDefault",
    .run = {{dtype::none, pass_shaped}},
    .prepare = cache_attr<partial_shape, "shape">,
    .on_any_device = true,
};

} // namespace troupe::ops::placeholder_any
