#include "troupe/ops/activation/shared/leaky_relu.hpp"
#include "troupe/ops/elementwise/shared/elementwise.cpu.hpp"
#include "troupe/ops/kernel/element_types.hpp"

namespace troupe::ops::relu_cpu {
namespace {

// out[i] = value[i], times alpha where the feature is not positive. The three buffers may be the
// same memory.
template <class T>
void leak(const T* value, const T* feature, float alpha, T* out, int64_t count) {
  const auto factor = static_cast<compute_type<T>>(alpha);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    compute_type<T> x = widen(value[i]);
    out[i] = static_cast<T>(widen(feature[i]) > 0 ? x : factor * x);
  }
}

template <class T>
status run_leak(kernel_context& at, const tensor& values, const tensor& features) {
  const T *value = values.data<T>(), *feature = features.data<T>();
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {0}, values.dims()));
  auto* to = out->template data<T>();
  auto alpha = at.state<float>();
  at.parallel_for(values.elements(), 0.3, [&](int64_t begin, int64_t end) {
    leak(value + begin, feature + begin, alpha, to + begin, end - begin);
  });
  return {};
}

struct positive_part {
  template <class T>
  T operator()(T x) const {
    return x <= T{0} ? T{0} : x; // NaN stays
  }
};

struct pass_where_positive {
  template <class T>
  T operator()(T gradient, T feature) const {
    return feature > T{0} ? gradient : T{0};
  }
};

struct clamped_part {
  template <class T>
  T operator()(T x) const {
    return x <= T{0} ? T{0} : x >= T{6} ? T{6} : x; // NaN stays
  }
};

struct pass_inside {
  template <class T>
  T operator()(T gradient, T feature) const {
    return feature > T{0} && feature < T{6} ? gradient : T{0};
  }
};

template <class T>
status run_leaky_relu(kernel_context& at) {
  return run_leak<T>(at, at.input(0), at.input(0));
}

template <class T>
status run_leaky_relu_grad(kernel_context& at) {
  TROUPE_TRY(check_paired(at));
  return run_leak<T>(at, at.input(0), at.input(1));
}

} // namespace

extern constexpr kernel_def relu_cpu{
    .op = "Relu",
    .device = device_kind::cpu,
    .run = unary_kernels<positive_part>(types::real_numbers),
};

extern constexpr kernel_def relu_grad_cpu{
    .op = "ReluGrad",
    .run = paired_kernels<pass_where_positive>(types::real_numbers),
};

extern constexpr kernel_def relu6_cpu{
    .op = "Relu6",
    .run = unary_kernels<clamped_part>(types::real_numbers),
};

extern constexpr kernel_def relu6_grad_cpu{
    .op = "Relu6Grad",
    .run = paired_kernels<pass_inside>(types::real_numbers),
};

extern constexpr kernel_def leaky_relu_cpu{
    .op = "LeakyRelu",
    .run = {{dtype::f16, run_leaky_relu<float16>},
            {dtype::bf16, run_leaky_relu<bfloat16>},
            {dtype::f32, run_leaky_relu<float>},
            {dtype::f64, run_leaky_relu<double>}},
    .prepare = prepare_leak,
};

extern constexpr kernel_def leaky_relu_grad_cpu{
    .op = "LeakyReluGrad",
    .run = {{dtype::f16, run_leaky_relu_grad<float16>},
            {dtype::bf16, run_leaky_relu_grad<bfloat16>},
            {dtype::f32, run_leaky_relu_grad<float>},
            {dtype::f64, run_leaky_relu_grad<double>}},
    .prepare = prepare_leak,
};

} // namespace troupe::ops::relu_cpu
