#include "troupe/ops/math/elementwise.cuda.hpp"
#include "troupe/runtime/infer.hpp"

namespace troupe::ops {
namespace {

template <class T>
struct lin_space_body {
  compute_type<T> first, step;
  T last;
  int64_t count;
  T* out;
  TROUPE_DEVICE void operator()(int64_t i) const { // rounding does not change the ends
    out[i] = i == count - 1 ? last : gpu::store<T>(first + step * static_cast<compute_type<T>>(i));
  }
};

template <class T>
status run_lin_space(kernel_context& at) {
  for (int i = 0; i < 3; ++i)
    if (at.input(i).elements() != 1)
      return invalid("start, stop and num must be scalars, got shape ", at.input(i).dims());
  auto count = to_integers(at.input(2))[0];
  if (count <= 0)
    return invalid("num must be positive, got ", count);
  TROUPE_ASSIGN(auto dims, shape::make(std::span{&count, 1}));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const T start = *at.input(0).data<T>(), stop = *at.input(1).data<T>();
  auto first = static_cast<compute_type<T>>(widen(start));
  auto step = count > 1 ? (widen(stop) - first) / static_cast<compute_type<T>>(count - 1) : 0;
  return gpu::for_each(
      at, count,
      lin_space_body<T>{first, step, count > 1 ? stop : start, count, out->template data<T>()});
}

template <class... Ts>
constexpr upto<typed_kernel, 18> lin_space_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_lin_space<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(lin_space){
    .op = "LinSpace",
    .device = device_kind::gpu,
    .run = lin_space_kernels(types::floating),
};

} // namespace troupe::ops
