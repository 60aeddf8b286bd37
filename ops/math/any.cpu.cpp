#include "troupe/ops/math/reduce.cpu.hpp"

namespace troupe::ops {

extern constexpr kernel_def any_cpu{
    .op = "Any",
    .run = {{dtype::none, reduce<bool, disjunction>}},
    .prepare = keep_attr<bool, "keep_dims">,
};

} // namespace troupe::ops
