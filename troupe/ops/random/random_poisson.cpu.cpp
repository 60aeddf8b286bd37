#include "troupe/ops/random/shared/poisson.cpu.hpp"

namespace troupe::ops::random_poisson_cpu {

extern constexpr kernel_def random_poisson_cpu{
    .op = "RandomPoisson",
    .run = {{dtype::f16, draw_poisson<float16>},
            {dtype::f32, draw_poisson<float>},
            {dtype::f64, draw_poisson<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
};

} // namespace troupe::ops::random_poisson_cpu
