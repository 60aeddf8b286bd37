#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::arithmetic_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    add_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::sum(a, b); });

TROUPE_SCALAR_FUNCTION(
    add_v2_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::sum(a, b); });

struct add_n_pair {
  template <class T>
  TROUPE_DEVICE T operator()(T a, T b) const {
    return gpu::sum(a, b);
  }
};

// The maximum number of addresses in the arguments of a launch. With more inputs, the first input
// of the next launch is the sum so far.
template <class T, int Most>
struct add_n_body {
  int inputs;
  T* out;
  const T* in[Most];
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto total = gpu::load(in[0][i]);
    for (int k = 1; k < inputs; ++k)
      total = gpu::sum(total, gpu::load(in[k][i]));
    out[i] = gpu::store<T>(total);
  }
};

template <int Most, class T>
status launch_add_n(kernel_context& at, T* to, int64_t count) {
  add_n_body<T, Most> body{0, to, {}};
  for (int i = 0; i < at.inputs();) {
    body.inputs = 0;
    if (i > 0)
      body.in[body.inputs++] = to;
    while (body.inputs < Most && i < at.inputs())
      body.in[body.inputs++] = at.input(i++).template data<T>();
    TROUPE_TRY(gpu::for_each(at, count, body));
  }
  return {};
}

template <class T>
status run_add_n(kernel_context& at) {
  const auto& dims = at.input(0).dims();
  for (int i = 1; i < at.inputs(); ++i)
    if (!(at.input(i).dims() == dims))
      return invalid("all inputs must have one shape, got ", dims, " and ", at.input(i).dims());
  if (at.inputs() == 1) {
    at.set_output(0, at.input(0));
    return {};
  }
  constexpr int small_launch = 16, large_launch = 256;
  // Several launches write the output while inputs are still read.
  TROUPE_ASSIGN(auto* out, at.inputs() <= large_launch ? at.forward_or_allocate(0, {0}, dims)
                                                       : at.allocate(0, dims));
  auto* to = out->template data<T>();
  if (at.inputs() == 2)
    return gpu::map(at, dims.elements(), add_n_pair{}, to, at.input(0).data<T>(),
                    at.input(1).data<T>());
  return at.inputs() <= small_launch ? launch_add_n<small_launch>(at, to, dims.elements())
                                     : launch_add_n<large_launch>(at, to, dims.elements());
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> add_n_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_add_n<Ts>}...};
}

TROUPE_SCALAR_FUNCTION(
    sub_fn, template <class T> TROUPE_DEVICE T operator()(T a, T b)
                const { return gpu::difference(a, b); });

TROUPE_SCALAR_FUNCTION(
    mul_fn,
    template <class T> TROUPE_DEVICE T operator()(T a, T b) const { return gpu::product(a, b); });

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(add){
    .op = "Add",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<add_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(add_v2){
    .op = "AddV2",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<add_v2_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(add_n){
    .op = "AddN",
    .device = device_kind::gpu,
    .run = add_n_kernels(gpu::usual_types),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(sub){
    .op = "Sub",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<sub_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(mul){
    .op = "Mul",
    .device = device_kind::gpu,
    .run = gpu::binary_kernels<mul_fn>(types::real_numbers),
};

} // namespace troupe::ops::arithmetic_gpu
