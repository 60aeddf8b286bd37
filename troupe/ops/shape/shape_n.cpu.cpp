#include "troupe/ops/shape/shared/extents.cpu.hpp"

namespace troupe::ops::shape_n_cpu {

extern constexpr kernel_def shape_n_cpu{
    .op = "ShapeN",
    .run = {{dtype::i32, list_extents<int32_t>}, {dtype::i64, list_extents<int64_t>}},
    .key = "out_type",
};

} // namespace troupe::ops::shape_n_cpu
