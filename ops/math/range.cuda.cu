#include "troupe/ops/math/range.hpp"

#include "troupe/ops/math/elementwise.cuda.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct range_body {
  compute_type<T> start, delta;
  T* out;
  TROUPE_DEVICE void operator()(int64_t i) const { // sums fit, products need not: both wrap around
    out[i] = gpu::store<T>(gpu::sum(start, gpu::product(static_cast<compute_type<T>>(i), delta)));
  }
};

template <class T>
status run_range(kernel_context& at) {
  for (int i = 0; i < 3; ++i)
    if (at.input(i).elements() != 1)
      return invalid("start, limit and delta must be scalars, got shape ", at.input(i).dims());
  auto scalar = [&](int i) { return compute_type<T>{widen(*at.input(i).template data<T>())}; };
  auto start = scalar(0), delta = scalar(2);
  TROUPE_ASSIGN(auto count, count_steps(start, scalar(1), delta));
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&count, 1}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  return gpu::for_each(at, count, range_body<T>{start, delta, out->template data<T>()});
}

template <class... Ts>
constexpr upto<typed_kernel, 18> range_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_range<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(range){
    .op = "Range",
    .device = device_kind::gpu,
    .run = range_kernels(gpu::usual_types),
    .key = "Tidx",
};

} // namespace troupe::ops
