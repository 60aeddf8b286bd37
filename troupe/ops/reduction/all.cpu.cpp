#include "troupe/ops/reduction/shared/reduce.cpu.hpp"

namespace troupe::ops::all_cpu {

extern constexpr kernel_def all_cpu{
    .op = "All",
    .run = {{dtype::none, reduce<bool, conjunction>}},
    .prepare = cache_attr<bool, "keep_dims">,
};

} // namespace troupe::ops::all_cpu
