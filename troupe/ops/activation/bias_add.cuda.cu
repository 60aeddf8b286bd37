#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

#include "troupe/ops/activation/shared/bias.hpp"
#include "troupe/ops/kernel/gpu/scalar_functions.cuda.hpp"

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

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(bias_add){
    .op = "BiasAdd",
    .device = device_kind::gpu,
    .run = bias_add_kernels(types::floating + type_list<int32_t, int64_t>{}),
    .prepare = prepare_bias,
};

} // namespace troupe::ops::bias_add_gpu
