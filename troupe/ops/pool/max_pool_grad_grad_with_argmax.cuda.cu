#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::max_pool_grad_grad_with_argmax_gpu {
namespace {

template <class T>
struct take_argmax_body {
  gpu::argmax_places places;
  gpu::device_errors wrong;
  const T* x;
  T* y;
  TROUPE_DEVICE void operator()(int64_t i) const {
    auto place = places.at(i);
    auto inside = place >= 0 && place < places.image;
    if (!inside)
      wrong.add(place, places.image);
    y[i] = inside ? x[places.first(i) + place] : T{};
  }
};

template <class T>
status take_argmax(kernel_context& at) {
  TROUPE_ASSIGN(auto of, make_pooling(at, at.input(0).dims()));
  TROUPE_TRY(expect_dims(at.input(2), of.output, "argmax"));
  TROUPE_TRY(expect_dims(at.input(1), of.input, "grad"));
  TROUPE_ASSIGN(auto* out, at.allocate(0, of.output));
  return gpu::for_each(
      at, out->elements(),
      take_argmax_body<T>{
          {at, of, at.input(2)}, {at, "argmax"}, at.input(1).data<T>(), out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> take_argmax_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, take_argmax<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_grad_grad_with_argmax){
    .op = "MaxPoolGradGradWithArgmax",
    .device = device_kind::gpu,
    .run = take_argmax_kernels(types::floating),
    .prepare = prepare_pool<argmax_pool>,
};

} // namespace troupe::ops::max_pool_grad_grad_with_argmax_gpu
