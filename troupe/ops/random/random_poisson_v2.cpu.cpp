#include "troupe/ops/random/shared/poisson.cpu.hpp"

namespace troupe::ops::random_poisson_v2_cpu {

extern constexpr kernel_def random_poisson_v2_cpu{
    .op = "RandomPoissonV2",
    .run = {{dtype::f16, draw_poisson<float16>},
            {dtype::f32, draw_poisson<float>},
            {dtype::f64, draw_poisson<double>},
            {dtype::i32, draw_poisson<int32_t>},
            {dtype::i64, draw_poisson<int64_t>}},
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_poisson_v2_cpu
