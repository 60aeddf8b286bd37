#include "troupe/ops/random/shared/integers.hpp"
#include "troupe/ops/random/shared/random.cuda.hpp"

namespace troupe::ops::random_uniform_gpu {
namespace {

// The range may be computed on the device.
template <class T>
struct random_integers {
  const T *from, *to;
  gpu::device_errors wrong;
  TROUPE_DEVICE std::array<T, 2> operator()(const philox& numbers, uint64_t index) const {
    if (*from < *to)
      return integer_draw<T>{*from, *to}(numbers, index);
    wrong.add(*from, *to);
    return {};
  }
};

template <class T>
status run_random_integers(kernel_context& at) {
  TROUPE_TRY(check_range(at));
  return gpu::fill_from_stream<T, 2>(
      at, random_integers<T>{at.input(1).data<T>(),
                             at.input(2).data<T>(),
                             {at, "the range from minval to maxval is empty: it"}});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_uniform){
    .op = "RandomUniform",
    .device = device_kind::gpu,
    .run = gpu::drawn_kernels<uniform_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_uniform_int){
    .op = "RandomUniformInt",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_random_integers<int32_t>}, {dtype::i64, run_random_integers<int64_t>}},
    .key = "Tout",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(stateless_random_uniform){
    .op = "StatelessRandomUniform",
    .device = device_kind::gpu,
    .run = gpu::stateless_kernels<uniform_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::random_uniform_gpu
