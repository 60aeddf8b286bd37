#include "troupe/ops/reduction/shared/reduce.cpu.hpp"

namespace troupe::ops::any_cpu {

extern constexpr kernel_def any_cpu{
    .op = "Any",
    .run = {{dtype::none, reduce<bool, disjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::any_cpu
