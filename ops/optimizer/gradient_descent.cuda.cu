#include "troupe/ops/optimizer/shared/apply.cuda.hpp"
#include "troupe/ops/state/shared/update.cuda.hpp"

namespace troupe::ops::gradient_descent_gpu {
namespace {

// The rate may be computed by a schedule on the device.
template <class T>
struct descend_by {
  const T* rate;
  TROUPE_DEVICE compute_type<T> operator()(compute_type<T> value, compute_type<T> gradient) const {
    return descend<compute_type<T>>{gpu::load(*rate)}(value, gradient);
  }
};

template <class T>
status run_descent(kernel_context& at) {
  const auto& rate = at.input(1);
  TROUPE_TRY(check_rate(rate));
  return gpu::update_variable<T>(at, descend_by<T>{rate.data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> descent_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_descent<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_gradient_descent){
    .op = "ApplyGradientDescent",
    .device = device_kind::gpu,
    .run = descent_kernels(types::floating),
    .prepare = keep_locking,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(apply_momentum){
    .op = "ApplyMomentum",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<momentum>(),
    .prepare = keep_training,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sparse_apply_momentum){
    .op = "SparseApplyMomentum",
    .device = device_kind::gpu,
    .run = gpu::apply_kernels<momentum>(),
    .prepare = keep_training,
};

} // namespace troupe::ops::gradient_descent_gpu
