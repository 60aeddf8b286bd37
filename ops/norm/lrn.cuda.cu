#include "troupe/ops/kernel/gpu/layer.cuda.hpp"
#include "troupe/ops/norm/shared/lrn_state.hpp"

#include <math.h>

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

// The neighbours of an element along the last axis.
struct lrn_row {
  int64_t channels, radius;

  lrn_row(const lrn_state& state, int64_t count)
      : channels(count), radius(std::min(state.radius, count)) {}

  // The sum of value(j) over the neighbours j of element i.
  template <class N, class Value>
  TROUPE_DEVICE N sum(int64_t i, const Value& value) const {
    auto first = i - i % channels;
    auto begin = i - radius > first ? i - radius : first;
    auto end = i + radius + 1 < first + channels ? i + radius + 1 : first + channels;
    N total{};
    for (auto j = begin; j < end; ++j)
      total += value(j);
    return total;
  }
};

inline troupe::gpu::lrn_layer lrn_layer_of(const lrn_state& state, const tensor& input,
                                           bool backward) {
  const auto& dims = input.dims();
  return {.backward = backward,
          .type = input.type(),
          .images = dims[0],
          .rows = dims[1],
          .columns = dims[2],
          .channels = dims[3],
          .radius = state.radius,
          .bias = state.bias,
          .alpha = state.alpha,
          .beta = state.beta};
}

// The sum of squares around an element, times alpha, plus bias.
template <class T>
struct lrn_norm {
  lrn_row of;
  compute_type<T> bias, alpha;
  const T* x;

  lrn_norm(const lrn_state& state, const tensor& input)
      : of(state, input.dims()[3]), bias(static_cast<compute_type<T>>(state.bias)),
        alpha(static_cast<compute_type<T>>(state.alpha)), x(input.data<T>()) {}

  TROUPE_DEVICE compute_type<T> at(int64_t i) const {
    using number = compute_type<T>;
    return bias + alpha * of.template sum<number>(i, [&](int64_t j) {
      auto value = load(x[j]);
      return value * value;
    });
  }
};

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

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
  auto layer = gpu::lrn_layer_of(state, input, false);
  return gpu::compute_layer(
      at, layer, [&at, body, count = out->elements()] { return gpu::for_each(at, count, body); },
      [=](gpu::layer_library& library, const auto& call) {
        return library.lrn(call, layer, body.norm.x, body.y);
      });
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> lrn_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, lrn_on_gpu<Ts>}...};
}

// dx = dy * norm ^ -beta - 2 * alpha * beta * x * sum over neighbours of (dy * y / norm). Each
// element needs its neighbours' norms, so these are computed first.
template <class T>
struct lrn_norms_body {
  gpu::lrn_norm<T> norm;
  const T *dy, *y;
  compute_type<T>*norms, *shares;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto own_norm = norm.at(i);
    norms[i] = own_norm;
    shares[i] = gpu::load(dy[i]) * gpu::load(y[i]) / own_norm;
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
  auto layer = gpu::lrn_layer_of(at.state<lrn_state>(), input, true);
  return gpu::compute_layer(
      at, layer, [&at, out] { return launch_lrn_gradient<T>(at, *out); },
      [=, x = input.raw(), y = output.raw(), dy = gradient.raw(),
       dx = out->raw()](gpu::layer_library& library, const auto& call) {
        return library.lrn_back(call, layer, x, y, dy, dx);
      });
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> lrn_gradient_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, lrn_gradient_on_gpu<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(lrn){
    .op = "LRN",
    .device = device_kind::gpu,
    .run = lrn_kernels(types::floating),
    .prepare = lrn_state::prepare,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(lrn_grad){
    .op = "LRNGrad",
    .device = device_kind::gpu,
    .run = lrn_gradient_kernels(types::floating),
    .prepare = lrn_state::prepare,
};

} // namespace troupe::ops::lrn_gpu
