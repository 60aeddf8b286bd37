#include "troupe/ops/array/passing.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def ensure_shape_cpu{
    .op = "EnsureShape",
    .run = {{dtype::none, pass_shaped}},
    .prepare = keep_attr<partial_shape, "shape">,
};

} // namespace troupe::ops
