#include "troupe/ops/elementwise/shared/elementwise.cuda.hpp"
#include "troupe/ops/kernel/cached_attr.hpp"

namespace troupe::ops::approximate_equal_gpu {
namespace {

struct approximate_equal_fn {
  double tolerance;
  TROUPE_DEVICE bool operator()(float a, float b) const {
    return fabs(a - b) <= static_cast<float>(tolerance); // as a float would have it
  }
  TROUPE_DEVICE bool operator()(double a, double b) const { return fabs(a - b) <= tolerance; }
  // Their distance may be beyond their type.
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

extern constexpr kernel_def TROUPE_GPU_KERNEL(approximate_equal){
    .op = "ApproximateEqual",
    .device = device_kind::gpu,
    .run = approximate_equal_kernels(gpu::usual_types),
    .prepare = cache_attr<double, "tolerance">,
};

} // namespace troupe::ops::approximate_equal_gpu
