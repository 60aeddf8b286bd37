#include "troupe/ops/kernel/gpu/primitives.cuda.hpp"

namespace troupe::ops::l2_loss_gpu {
namespace {

template <class T>
status run_l2_loss(kernel_context& at) {
  const auto& x = at.input(0);
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  return gpu::reduce_rows<gpu::half_of_squares>(at, x.data<T>(), out->template data<T>(), 1,
                                                x.elements());
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

} // namespace troupe::ops::l2_loss_gpu
