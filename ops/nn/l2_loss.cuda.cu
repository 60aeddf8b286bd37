#include "troupe/ops/math/reduce.cuda.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct l2_loss_source {
  const T* x;
  TROUPE_DEVICE double operator()(int64_t, int64_t i) const {
    double value = gpu::load(x[i]);
    return value * value;
  }
};

template <class T>
struct l2_loss_sink {
  T* to;
  TROUPE_DEVICE void operator()(int64_t, double total) const {
    *to = gpu::store<T>(static_cast<compute_type<T>>(total / 2));
  }
};

template <class T>
status run_l2_loss(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  return gpu::reduce_each<addition, double>(at, 1, x.elements(), false,
                                            l2_loss_source<T>{x.data<T>()},
                                            l2_loss_sink<T>{out->template data<T>()});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(l2_loss){
    .op = "L2Loss",
    .device = device_kind::gpu,
    .run = {{dtype::f16, run_l2_loss<float16>},
            {dtype::bf16, run_l2_loss<bfloat16>},
            {dtype::f32, run_l2_loss<float>},
            {dtype::f64, run_l2_loss<double>}},
};

} // namespace troupe::ops
