#include "troupe/ops/special/shared/beta_steps.hpp"
#include "troupe/ops/special/shared/incomplete_functions.cuda.hpp"

namespace troupe::ops::betainc_gpu {
namespace {

template <class T>
struct betainc_body {
  int64_t step_a, step_b, step_x;
  const T *a, *b, *x;
  T* to;
  TROUPE_DEVICE void operator()(int64_t i) const {
    to[i] = gpu::store<T>(static_cast<compute_type<T>>(
        special::incomplete_beta_of(gpu::load(a[i * step_a]), gpu::load(b[i * step_b]),
                                    gpu::load(x[i * step_x]), gpu::log_gamma{})));
  }
};

template <class T>
status run_betainc(kernel_context& at) {
  TROUPE_ASSIGN(auto steps, beta_steps(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, steps.dims));
  return gpu::for_each(at, out->elements(),
                       betainc_body<T>{steps.of[0], steps.of[1], steps.of[2], at.input(0).data<T>(),
                                       at.input(1).data<T>(), at.input(2).data<T>(),
                                       out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> betainc_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_betainc<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(betainc){
    .op = "Betainc",
    .device = device_kind::gpu,
    .run = betainc_kernels(types::floating),
};

} // namespace troupe::ops::betainc_gpu
