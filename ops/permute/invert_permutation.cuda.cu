#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::invert_permutation_gpu {
namespace {

template <class T>
struct invert_body {
  const T* from;
  T* to;
  int64_t count;
  gpu::device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (from[i] >= 0 && from[i] < count)
      to[from[i]] = static_cast<T>(i);
    else
      wrong.add(from[i], count);
  }
};

// A repeated number is recorded at one of its positions only, so that the other one detects it.
template <class T>
struct check_inverted_body {
  const T *from, *inverse;
  int64_t count;
  gpu::device_errors wrong;
  TROUPE_DEVICE void operator()(int64_t i) const {
    if (from[i] >= 0 && from[i] < count && inverse[from[i]] != i)
      wrong.add(from[i], count);
  }
};

template <class T>
status run_invert(kernel_context& at) {
  const auto& x = at.input(0);
  if (x.rank() != 1)
    return invalid("x must be a vector, got shape ", x.dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, x.dims()));
  auto count = x.elements();
  const auto* from = x.data<T>();
  auto* to = out->template data<T>();
  TROUPE_TRY(
      gpu::for_each(at, count, invert_body<T>{from, to, count, {at, "x is no permutation: it"}}));
  return gpu::for_each(
      at, count, check_inverted_body<T>{from, to, count, {at, "x is no permutation: it twice"}});
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(invert_permutation){
    .op = "InvertPermutation",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_invert<int32_t>}, {dtype::i64, run_invert<int64_t>}},
};

} // namespace troupe::ops::invert_permutation_gpu
