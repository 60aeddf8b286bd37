#include "troupe/ops/array/passing.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def placeholder_with_default_cpu{
    .op = "PlaceholderWithDefault",
    .run = {{dtype::none, pass_shaped}},
    .prepare = keep_attr<partial_shape, "shape">,
};

} // namespace troupe::ops
