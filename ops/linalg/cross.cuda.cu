#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"

namespace troupe::ops::cross_gpu {
namespace {

template <class T>
struct cross_body {
  const T *a, *b;
  T* out;
  // a * d - b * c
  TROUPE_DEVICE static T determinant(const T& a, const T& b, const T& c, const T& d) {
    auto times = [](const T& x, const T& y) { return gpu::product(gpu::load(x), gpu::load(y)); };
    return gpu::store<T>(gpu::difference(times(a, d), times(b, c)));
  }
  TROUPE_DEVICE void operator()(int64_t row) const {
    const T *x = a + 3 * row, *y = b + 3 * row;
    auto* to = out + 3 * row;
    to[0] = determinant(x[1], x[2], y[1], y[2]);
    to[1] = determinant(x[2], x[0], y[2], y[0]);
    to[2] = determinant(x[0], x[1], y[0], y[1]);
  }
};

template <class T>
status run_cross(kernel_context& at) {
  const auto &a = at.input(0), &b = at.input(1);
  const auto& dims = a.dims();
  if (!(dims == b.dims()) || dims.rank() == 0 || dims[dims.rank() - 1] != 3)
    return invalid("a and b must have the same shape, whose last axis has 3 elements, got ", dims,
                   " and ", b.dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  return gpu::for_each(at, dims.elements() / 3,
                       cross_body<T>{a.data<T>(), b.data<T>(), out->template data<T>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> cross_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_cross<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(cross){
    .op = "Cross",
    .device = device_kind::gpu,
    .run = cross_kernels(gpu::usual_types),
};

} // namespace troupe::ops::cross_gpu
