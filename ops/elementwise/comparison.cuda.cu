#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

struct answer_alone {
  bool* to;
  bool answer;
  TROUPE_DEVICE void operator()(int64_t) const { *to = answer; }
};

// Compares element by element. Tensors whose shapes do not match are unequal as a whole, unless
// that is an error.
template <class T, class Fn>
status compare(kernel_context& at) {
  if (!at.state<bool>() && !broadcast(at.input(0).dims(), at.input(1).dims())) {
    TROUPE_ASSIGN(auto* out, at.allocate(0, {}));
    return for_each(at, 1, answer_alone{out->template data<bool>(), Fn{}(0, 1)});
  }
  return binary<T, Fn, bool>(at);
}

template <class Fn, class... Ts>
constexpr inplace_vector<typed_kernel, 18> equality_kernels(type_list<Ts...>) {
  return {{.type = dtype_of<Ts>, .run = compare<Ts, Fn>, .code = code_of<Fn>()}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::comparison_gpu {
namespace {

TROUPE_SCALAR_FUNCTION(
    equal_fn, template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a == b; });

TROUPE_SCALAR_FUNCTION(
    not_equal_fn,
    template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a != b; });

TROUPE_SCALAR_FUNCTION(
    less_fn, template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a < b; });

TROUPE_SCALAR_FUNCTION(
    less_equal_fn,
    template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a <= b; });

TROUPE_SCALAR_FUNCTION(
    greater_fn, template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a > b; });

TROUPE_SCALAR_FUNCTION(
    greater_equal_fn,
    template <class T> TROUPE_DEVICE bool operator()(T a, T b) const { return a >= b; });

struct approximate_equal_fn {
  double tolerance;
  TROUPE_DEVICE bool operator()(float a, float b) const {
    return fabs(a - b) <= static_cast<float>(tolerance); // rounded to float
  }
  TROUPE_DEVICE bool operator()(double a, double b) const { return fabs(a - b) <= tolerance; }
  // Their distance may exceed their type.
  template <class T>
  TROUPE_DEVICE bool operator()(T a, T b) const {
    auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<double>(a < b ? y - x : x - y) <= tolerance;
  }
};

template <class T>
status run_approximate_equal(kernel_context& at) {
  TROUPE_TRY(gpu::check_paired(at));
  return gpu::binary_with<T, bool>(at, approximate_equal_fn{at.state<double>()});
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> approximate_equal_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_approximate_equal<Ts>}...};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(equal){
    .op = "Equal",
    .device = device_kind::gpu,
    .run = gpu::equality_kernels<equal_fn>(types::real_numbers + types::boolean),
    .prepare = cache_attr<bool, "incompatible_shape_error">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(not_equal){
    .op = "NotEqual",
    .device = device_kind::gpu,
    .run = gpu::equality_kernels<not_equal_fn>(types::real_numbers + types::boolean),
    .prepare = cache_attr<bool, "incompatible_shape_error">,
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(less){
    .op = "Less",
    .device = device_kind::gpu,
    .run = gpu::comparison_kernels<less_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(less_equal){
    .op = "LessEqual",
    .device = device_kind::gpu,
    .run = gpu::comparison_kernels<less_equal_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(greater){
    .op = "Greater",
    .device = device_kind::gpu,
    .run = gpu::comparison_kernels<greater_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(greater_equal){
    .op = "GreaterEqual",
    .device = device_kind::gpu,
    .run = gpu::comparison_kernels<greater_equal_fn>(types::real_numbers),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(approximate_equal){
    .op = "ApproximateEqual",
    .device = device_kind::gpu,
    .run = approximate_equal_kernels(gpu::usual_types),
    .prepare = cache_attr<double, "tolerance">,
};

} // namespace troupe::ops::comparison_gpu
