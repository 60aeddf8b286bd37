#include "troupe/ops/activation/shared/bias.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"
#include "troupe/ops/kernel/gpu/scalar_functions.cuda.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::bias_add_gpu {
namespace {

template <class T>
struct bias_add_body {
  const T *x, *bias;
  T* y;
  uint32_t channels;
  int64_t inner;
  bool narrow;
  TROUPE_DEVICE void operator()(int64_t i) const {
    uint32_t channel = 0;
    if (narrow) {
      auto row = static_cast<uint32_t>(i);
      channel = (inner == 1 ? row : row / static_cast<uint32_t>(inner)) % channels;
    } else {
      channel = static_cast<uint32_t>(i / inner % channels);
    }
    y[i] = gpu::store<T>(
        static_cast<compute_type<T>>(gpu::sum(gpu::load(x[i]), gpu::load(bias[channel]))));
  }
};

template <class T>
status add_bias_on_gpu(kernel_context& at) {
  const auto &value = at.input(0), &bias = at.input(1);
  TROUPE_ASSIGN(auto view, view_biased(at, value.dims(), bias.dims()));
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, value.dims()));
  return gpu::for_each(at, out->elements(),
                       bias_add_body<T>{value.data<T>(), bias.data<T>(), out->template data<T>(),
                                        static_cast<uint32_t>(view.channels), view.inner,
                                        out->elements() <= UINT32_MAX});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> bias_add_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, add_bias_on_gpu<Ts>}...};
}

template <class T>
struct bias_source {
  const T* x;
  int64_t channels, inner;
  bool narrow;
  TROUPE_DEVICE detail::total_t<T> operator()(int64_t channel, int64_t item) const {
    auto outer = item;
    if (inner != 1)
      outer = narrow ? static_cast<uint32_t>(item) / static_cast<uint32_t>(inner) : item / inner;
    auto at = (outer * channels + channel) * inner + (item - outer * inner);
    return static_cast<detail::total_t<T>>(gpu::load(x[at]));
  }
};

template <class T>
status add_up_bias(kernel_context& at) {
  const auto& value = at.input(0);
  TROUPE_ASSIGN(auto view, view_channels(value.dims(), at.state<bool>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{view.channels}));
  auto items = view.outer * view.inner;
  return gpu::reduce_each<addition, detail::total_t<T>>(
      at, view.channels, items, view.inner == 1,
      bias_source<T>{value.data<T>(), view.channels, view.inner, items <= UINT32_MAX},
      gpu::store_total<addition, T>{out->template data<T>(), items});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> bias_add_grad_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, add_up_bias<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(bias_add){
    .op = "BiasAdd",
    .device = device_kind::gpu,
    .run = bias_add_kernels(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = prepare_bias,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(bias_add_grad){
    .op = "BiasAddGrad",
    .device = device_kind::gpu,
    .run = bias_add_grad_kernels(gpu::reduced_types),
    .prepare = prepare_bias,
};

} // namespace troupe::ops::bias_add_gpu
