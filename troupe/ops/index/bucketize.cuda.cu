#include "troupe/ops/index/bucketize.hpp"

#include "troupe/ops/kernel/gpu/launch.cuda.hpp"

namespace troupe::ops::bucketize_gpu {
namespace {

// A launch takes so many boundaries along; the counts of several launches add up.
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
    int low = 0, high = count; // the first boundary that is larger is in [low, high]
    while (low < high) {
      auto middle = (low + high) / 2;
      if (value < boundaries[middle])
        high = middle;
      else
        low = middle + 1;
    }
    out[i] = adds ? out[i] + low : low;
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

extern constexpr kernel_def TROUPE_GPU_KERNEL(bucketize){
    .op = "Bucketize",
    .device = device_kind::gpu,
    .run = {{dtype::i32, run_bucketize<int32_t>},
            {dtype::i64, run_bucketize<int64_t>},
            {dtype::f32, run_bucketize<float>},
            {dtype::f64, run_bucketize<double>}},
    .prepare = prepare_buckets,
};

} // namespace troupe::ops::bucketize_gpu
