#include "troupe/ops/pool/shared/pooling.cuda.hpp"

namespace troupe::ops::max_pool_with_argmax_gpu {
namespace {

template <class T>
struct max_pool_with_argmax_body {
  gpu::windows on;
  const T* x;
  T* y;
  gpu::argmax_places places;
  TROUPE_DEVICE void operator()(int64_t i) const {
    gpu::largest_of_window<T> found{on, x, on.out.locate(i)};
    y[i] = found.k < 0 ? T{} : x[found.offset];
    places.put(i, found.k < 0 ? -1 : found.offset);
  }
};

template <class T>
status max_pool_with_argmax(kernel_context& at) {
  const auto& input = at.input(0);
  TROUPE_ASSIGN(auto of, make_pooling(at, input.dims()));
  TROUPE_TRY(expect_places(at, input));
  TROUPE_ASSIGN(auto* out, at.allocate(0, of.output));
  TROUPE_ASSIGN(auto* places, at.allocate(1, of.output));
  if (out->elements() == 0)
    return {};
  TROUPE_ASSIGN(auto on, gpu::windows_of(of));
  return gpu::for_each(at, out->elements(),
                       max_pool_with_argmax_body<T>{
                           on, input.data<T>(), out->template data<T>(), {at, of, *places}});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_with_argmax_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool_with_argmax<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(max_pool_with_argmax){
    .op = "MaxPoolWithArgmax",
    .device = device_kind::gpu,
    .run = max_pool_with_argmax_kernels(types::floating),
    .prepare = prepare_pool<argmax_pool>,
};

} // namespace troupe::ops::max_pool_with_argmax_gpu
