#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/copy.hpp"
#include "troupe/ops/quantized/shared/simulated_quantization.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::quantize_and_dequantize_gpu {
namespace {

// The elements of a slice in order.
template <class T>
struct slice_elements {
  const T* x;
  int64_t slices, inner;
  TROUPE_DEVICE T operator()(int64_t slice, int64_t i) const {
    return x[(i / inner * slices + slice) * inner + i % inner];
  }
};

template <class T>
struct keep_end {
  T* to;
  TROUPE_DEVICE void operator()(int64_t slice, const T& end) const { to[slice] = end; }
};

template <class T>
struct quantize_and_dequantize_body {
  gpu::device_errors wrong;
  const T *x, *least, *most; // the ends of each slice's range
  T* out;
  whole_numbers<T> whole;
  int64_t slices, inner;
  bool half_up, clamps;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto slice = i / inner % slices;
    if (clamps && least[slice] > most[slice])
      wrong.add();
    out[i] =
        simulated_range<T>::fitted(least[slice], most[slice], whole, half_up).rounded(x[i], clamps);
  }
};

template <class T>
status round_on_gpu(kernel_context& at, const simulated_quantization& settings) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto along, axis_slices::of(x.dims(), settings.axis));
  TROUPE_TRY(check_ends(at, 1, settings.axis, along));
  auto count = x.elements();
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  const auto *range_min = at.input(1).template data<T>(),
             *range_max = at.input(2).template data<T>();
  tensor ends;
  if (!settings.range_given) {
    TROUPE_ASSIGN(ends, tensor::make(dtype_of<T>, shape{2, along.slices}, at.memory()));
    auto* range_ends = ends.template data<T>();
    slice_elements<T> elements{x.template data<T>(), along.slices, along.inner};
    TROUPE_TRY((gpu::reduce_each<smallest, T>(at, along.slices, along.items, false, elements,
                                              keep_end<T>{range_ends})));
    TROUPE_TRY((gpu::reduce_each<largest, T>(at, along.slices, along.items, false, elements,
                                             keep_end<T>{range_ends + along.slices})));
    range_min = range_ends;
    range_max = range_ends + along.slices;
  }
  return gpu::for_each(at, count,
                       quantize_and_dequantize_body<T>{
                           gpu::device_errors{at, range_is_reversed}, x.template data<T>(),
                           range_min, range_max, out->template data<T>(),
                           whole_numbers<T>::of(settings), along.slices, along.inner,
                           settings.half_up, settings.range_given});
}

template <class T>
status run_quantize(kernel_context& at) {
  return round_on_gpu<T>(at, at.state<simulated_quantization>());
}

template <class T>
status run_quantize_v3(kernel_context& at) {
  auto settings = at.state<simulated_quantization>();
  if (at.input(3).elements() != 1)
    return invalid("num_bits must be a scalar, got shape ", at.input(3).dims());
  settings.bits = *at.input(3).data<int32_t>();
  TROUPE_TRY(settings.check_bits());
  return round_on_gpu<T>(at, settings);
}

template <class T>
struct pass_within_body {
  const T *dy, *x, *least, *most;
  T* dx;
  int64_t slices, inner;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto slice = i / inner % slices;
    dx[i] = dy[i] * static_cast<T>(x[i] >= least[slice] && x[i] <= most[slice]);
  }
};

template <class T>
status run_quantize_grad(kernel_context& at) {
  const auto &gradients = at.input(0), &x = at.input(1);
  auto axis = at.state<int64_t>();
  if (!(gradients.dims() == x.dims()))
    return invalid("gradients and input must have one shape, got ", gradients.dims(), " and ",
                   x.dims());
  TROUPE_ASSIGN(auto along, axis_slices::of(x.dims(), axis));
  TROUPE_TRY(check_ends(at, 2, axis, along));
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  for (int i : {1, 2}) {
    TROUPE_ASSIGN(auto* zeros, at.allocate(i, at.input(i + 1).dims()));
    fill_zeros(at, *zeros);
  }
  return gpu::for_each(at, x.elements(),
                       pass_within_body<T>{gradients.template data<T>(), x.template data<T>(),
                                           at.input(2).template data<T>(),
                                           at.input(3).template data<T>(), out->template data<T>(),
                                           along.slices, along.inner});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(quantize_and_dequantize_v2){
    .op = "QuantizeAndDequantizeV2",
    .device = device_kind::gpu,
    .run = {{dtype::f32, run_quantize<float>}, {dtype::f64, run_quantize<double>}},
    .prepare = keep_simulated_quantization,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(quantize_and_dequantize_v3){
    .op = "QuantizeAndDequantizeV3",
    .device = device_kind::gpu,
    .run = {{dtype::f32, run_quantize_v3<float>}, {dtype::f64, run_quantize_v3<double>}},
    .prepare = keep_simulated_quantization,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(quantize_and_dequantize_v4){
    .op = "QuantizeAndDequantizeV4",
    .device = device_kind::gpu,
    .run = {{dtype::f32, run_quantize<float>}, {dtype::f64, run_quantize<double>}},
    .prepare = keep_simulated_quantization,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(quantize_and_dequantize_v4_grad){
    .op = "QuantizeAndDequantizeV4Grad",
    .device = device_kind::gpu,
    .run = {{dtype::f32, run_quantize_grad<float>}, {dtype::f64, run_quantize_grad<double>}},
    .prepare = cache_attr<int64_t, "axis">,
};

} // namespace troupe::ops::quantize_and_dequantize_gpu
