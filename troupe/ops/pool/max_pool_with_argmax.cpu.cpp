#include "troupe/ops/pool/shared/pooling.cpu.hpp"

namespace troupe::ops::max_pool_with_argmax_cpu {

extern constexpr kernel_def max_pool_with_argmax_cpu{
    .op = "MaxPoolWithArgmax",
    .run = {{dtype::none, max_pool_with_places}},
    .prepare = prepare_pool<argmax_pool>,
};

} // namespace troupe::ops::max_pool_with_argmax_cpu
