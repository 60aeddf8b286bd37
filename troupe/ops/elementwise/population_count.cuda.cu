#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::population_count_gpu {
namespace {

struct population_count_fn {
  template <class T>
  TROUPE_DEVICE uint8_t operator()(T x) const {
    return gpu::bits_set(x);
  }
};

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(population_count){
    .op = "PopulationCount",
    .device = device_kind::gpu,
    .run = {{dtype::i32, gpu::unary<int32_t, population_count_fn, uint8_t>},
            {dtype::i64, gpu::unary<int64_t, population_count_fn, uint8_t>},
            {dtype::u8, gpu::unary<uint8_t, population_count_fn, uint8_t>}},
};

} // namespace troupe::ops::population_count_gpu
