#include "troupe/ops/norm/lrn.cuda.hpp"

namespace troupe::ops::lrn_gpu {
namespace {

template <class T>
struct lrn_body {
  gpu::lrn_norm<T> norm;
  compute_type<T> power;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    y[i] = gpu::store<T>(gpu::load(norm.x[i]) * pow(norm.at(i), power));
  }
};

template <class T>
status lrn_on_gpu(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_TRY(check_lrn(input.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, input.dims()));
  const auto& state = at.state<lrn_state>();
  const lrn_body<T> body{
      {state, input}, static_cast<compute_type<T>>(-state.beta), out->template data<T>()};
  auto what = gpu::lrn_layer_of(state, input, false);
  return gpu::compute_layer(
      at, what, [&at, body, count = out->elements()] { return gpu::for_each(at, count, body); },
      [=](gpu::layer_library& by, const auto& call) {
        return by.lrn(call, what, body.norm.x, body.y);
      });
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> lrn_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, lrn_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(lrn){
    .op = "LRN",
    .device = device_kind::gpu,
    .run = lrn_kernels(types::floating),
    .prepare = lrn_state::prepare,
};

} // namespace troupe::ops::lrn_gpu
