#include "troupe/ops/index/shared/bucketize.hpp"
#include "troupe/ops/index/shared/search_sorted.hpp"
#include "troupe/ops/kernel/gpu/device_indices.cuda.hpp"
#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::gpu {
inline namespace TROUPE_GPU_BUILD {

/// The first position of a row whose element is not before the sought value. Not std::lower_bound,
/// because nvcc compiles its std::advance to single steps.
template <class Before>
TROUPE_DEVICE int64_t first_place(int64_t length, Before is_before) {
  int64_t low = 0, high = length;
  while (low < high) {
    auto middle = low + (high - low) / 2;
    if (is_before(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

template <class T, bool Upper>
struct search_body {
  divisor by_columns;
  int64_t length;
  const T *from, *wanted;
  integer_output to;

  TROUPE_DEVICE void operator()(int64_t i) const {
    const T* row = from + by_columns(i).quotient * length;
    auto sought = load(wanted[i]);
    to.set(i, first_place(length, [&](int64_t place) {
             auto element = load(row[place]);
             return Upper ? !(sought < element) : element < sought;
           }));
  }
};

template <class T, bool Upper>
status search_rows(kernel_context& at) {
  TROUPE_TRY(check_bounds(at));
  const auto &sorted = at.input(0), &values = at.input(1);
  TROUPE_ASSIGN(auto* out, at.allocate(0, values.dims()));
  return for_each(at, values.elements(),
                  search_body<T, Upper>{{values.dims()[1], values.elements()},
                                        sorted.dims()[1],
                                        sorted.data<T>(),
                                        values.data<T>(),
                                        integer_output{*out}});
}

template <bool Upper, class... Ts>
constexpr inplace_vector<typed_kernel, 18> search_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, search_rows<Ts, Upper>}...};
}

} // namespace TROUPE_GPU_BUILD
} // namespace troupe::ops::gpu

namespace troupe::ops::search_sorted_gpu {
namespace {

// A launch carries this many boundaries in its arguments; the counts of several launches add up.
constexpr int bucketize_most = 512;

template <class T>
struct bucketize_body {
  const T* x;
  int32_t* out;
  int count;
  bool adds;
  float boundaries[bucketize_most];

  TROUPE_DEVICE void operator()(int64_t i) const {
    auto value = x[i];
    auto bucket = static_cast<int32_t>(
        gpu::first_place(count, [&](int64_t place) { return !(value < boundaries[place]); }));
    out[i] = adds ? out[i] + bucket : bucket;
  }
};

template <class T>
status run_bucketize(kernel_context& at) {
  const auto& in = at.input(0);
  const auto& sorted = at.state<bucket_boundaries>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, in.dims()));
  size_t first = 0;
  do {
    bucketize_body<T> body{in.data<T>(), out->template data<int32_t>(), 0, first > 0, {}};
    while (body.count < bucketize_most && first < sorted.size())
      body.boundaries[body.count++] = sorted[first++];
    TROUPE_TRY(gpu::for_each(at, in.elements(), body));
  } while (first < sorted.size());
  return {};
}

} // namespace

extern constexpr kernel_def TROUPE_GPU_KERNEL(lower_bound){
    .op = "LowerBound",
    .device = device_kind::gpu,
    .run = gpu::search_kernels<false>(types::floating + type_list<int32_t, int64_t>{}),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(upper_bound){
    .op = "UpperBound",
    .device = device_kind::gpu,
    .run = gpu::search_kernels<true>(types::floating + type_list<int32_t, int64_t>{}),
};

extern constexpr kernel_def TROUPE_GPU_KERNEL(bucketize){
    .op = "Bucketize",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_bucketize<int32_t>},
            {dtype::i64, run_bucketize<int64_t>},
            {dtype::f32, run_bucketize<float>},
            {dtype::f64, run_bucketize<double>}},
    .prepare = prepare_buckets,
};

} // namespace troupe::ops::search_sorted_gpu
