#include "troupe/ops/activation/shared/bias.hpp"
#include "troupe/ops/reduction/shared/reduce.cuda.hpp"

namespace troupe::ops::bias_add_grad_gpu {
namespace {

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

extern constexpr kernel_def TROUPE_GPU_KERNEL(bias_add_grad){
    .op = "BiasAddGrad",
    .device = device_kind::gpu,
    .run = bias_add_grad_kernels(gpu::reduced_types),
    .prepare = prepare_bias,
};

} // namespace troupe::ops::bias_add_grad_gpu
