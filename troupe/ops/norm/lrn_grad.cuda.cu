#include "troupe/ops/norm/lrn.cuda.hpp"

namespace troupe::ops::lrn_grad_gpu {
namespace {

// dx = dy * norm ^ -beta - 2 * alpha * beta * x * sum over neighbours of (dy * y / norm), of which
// each element needs its neighbours' norms: they are computed first.
template <class T>
struct lrn_norms_body {
  gpu::lrn_norm<T> norm;
  const T *dy, *y;
  compute_type<T>*norms, *shares;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto here = norm.at(i);
    norms[i] = here;
    shares[i] = gpu::load(dy[i]) * gpu::load(y[i]) / here;
  }
};

template <class T>
struct lrn_gradient_body {
  gpu::lrn_row row;
  compute_type<T> power, slope;
  const T *dy, *x;
  const compute_type<T>*norms, *shares;
  T* dx;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto sum = row.template sum<compute_type<T>>(i, [&](int64_t j) { return shares[j]; });
    dx[i] = gpu::store<T>(gpu::load(dy[i]) * pow(norms[i], power) - slope * gpu::load(x[i]) * sum);
  }
};

template <class T>
status launch_lrn_gradient(kernel_context& at, const tensor& out) {
  using number = compute_type<T>;
  const auto &gradient = at.input(0), &input = at.input(1), &output = at.input(2);
  TROUPE_ASSIGN(auto norms, tensor::make(dtype_of<number>, input.dims(), at.memory()));
  TROUPE_ASSIGN(auto shares, tensor::make(dtype_of<number>, input.dims(), at.memory()));
  const auto& state = at.state<lrn_state>();
  auto *norm = norms.template data<number>(), *share = shares.template data<number>();
  const auto* dy = gradient.data<T>();
  TROUPE_TRY(gpu::for_each(at, out.elements(),
                           lrn_norms_body<T>{{state, input}, dy, output.data<T>(), norm, share}));
  return gpu::for_each(at, out.elements(),
                       lrn_gradient_body<T>{{state, input.dims()[3]},
                                            static_cast<number>(-state.beta),
                                            static_cast<number>(2 * state.alpha * state.beta),
                                            dy,
                                            input.data<T>(),
                                            norm,
                                            share,
                                            out.data<T>()});
}

template <class T>
status lrn_gradient_on_gpu(kernel_context& at) {
  const auto &gradient = at.input(0), &input = at.input(1), &output = at.input(2);
  TROUPE_TRY(check_lrn_gradient(gradient.dims(), input.dims(), output.dims()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, input.dims()));
  auto what = gpu::lrn_layer_of(at.state<lrn_state>(), input, true);
  return gpu::compute_layer(
      at, what, [&at, out] { return launch_lrn_gradient<T>(at, *out); },
      [=, x = input.raw(), y = output.raw(), dy = gradient.raw(),
       dx = out->raw()](gpu::layer_library& by, const auto& call) {
        return by.lrn_back(call, what, x, y, dy, dx);
      });
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> lrn_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, lrn_gradient_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(lrn_grad){
    .op = "LRNGrad",
    .device = device_kind::gpu,
    .run = lrn_gradient_kernels(types::floating),
    .prepare = lrn_state::prepare,
};

} // namespace troupe::ops::lrn_grad_gpu
