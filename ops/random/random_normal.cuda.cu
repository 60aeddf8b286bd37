#include "troupe/ops/random/shared/random.cuda.hpp"
#include "troupe/ops/random/shared/rejection.cuda.hpp"

namespace troupe::ops::random_normal_gpu {
namespace {

// One number for all rows, or one per row.
struct row_parameter {
  explicit row_parameter(const tensor& parameter)
      : numbers(parameter), step(parameter.elements() == 1 ? 0 : 1) {}
  gpu::real_elements numbers;
  int64_t step;
  TROUPE_DEVICE double operator[](int64_t row) const { return numbers[row * step]; }
};

template <class T>
struct bounded_normal_body {
  gpu::known_numbers numbers;
  row_parameter mean, deviation, least, greatest;
  gpu::divisor by_row;
  gpu::device_errors wrong;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto row = by_row(i).quotient;
    bounded_normal normal{mean[row], deviation[row], least[row], greatest[row]};
    if (!normal.valid()) {
      wrong.add(row, -1);
      to[i] = T{};
      return;
    }
    number_source source{numbers.numbers, numbers.first + static_cast<uint64_t>(i)};
    to[i] = gpu::store<T>(nearest<T>(drawn_between(source, normal)));
  }
};

template <class T>
status run_bounded_normal(kernel_context& at) {
  TROUPE_ASSIGN(auto dims, drawn_rows(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  if (out->elements() == 0)
    return {};
  return gpu::for_each(
      at, out->elements(),
      bounded_normal_body<T>{gpu::next_numbers(at, dims.elements()),
                             row_parameter{at.input(1)},
                             row_parameter{at.input(2)},
                             row_parameter{at.input(3)},
                             row_parameter{at.input(4)},
                             {dims.elements() / dims[0], dims.elements()},
                             {at, "cannot draw with the mean, deviation and bounds of row #"},
                             out->template data<T>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(random_standard_normal){
    .op = "RandomStandardNormal",
    .device = device_kind::gpu,
    .run = gpu::drawn_kernels<normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(truncated_normal){
    .op = "TruncatedNormal",
    .device = device_kind::gpu,
    .run = gpu::drawn_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(parameterized_truncated_normal){
    .op = "ParameterizedTruncatedNormal",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_bounded_normal<float16>},
            {dtype::bf16, run_bounded_normal<bfloat16>},
            {dtype::f32, run_bounded_normal<float>},
            {dtype::f64, run_bounded_normal<double>}},
    .key = "dtype",
    .prepare = prepare_stream,
    .state_format = &stream_position,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(stateless_random_normal){
    .op = "StatelessRandomNormal",
    .device = device_kind::gpu,
    .run = gpu::stateless_kernels<normal_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(stateless_truncated_normal){
    .op = "StatelessTruncatedNormal",
    .device = device_kind::gpu,
    .run = gpu::stateless_kernels<truncated_normal_draw>(types::floating),
    .key = "dtype",
};

} // namespace troupe::ops::random_normal_gpu
