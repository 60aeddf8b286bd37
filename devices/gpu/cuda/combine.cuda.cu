#include "troupe/devices/gpu/cuda/combine.cuda.hpp"

#include "troupe/devices/gpu/core/elements.cuda.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

struct sources {
  const void* from[max_combined];
  int count;
};

template <class T>
__global__ void combine_each(T* to, sources all_sources, int64_t count, reduction by,
                             bool average) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += int64_t{blockDim.x} * gridDim.x) {
    auto value = load(static_cast<const T*>(all_sources.from[0])[i]);
    for (int k = 1; k < all_sources.count; ++k) {
      auto other = load(static_cast<const T*>(all_sources.from[k])[i]);
      switch (by) {
        case reduction::sum: value = value + other; break;
        case reduction::product: value = value * other; break;
        case reduction::min: value = other < value ? other : value; break;
        case reduction::max: value = value < other ? other : value; break;
      }
    }
    if (average)
      value = value / static_cast<compute_type<T>>(all_sources.count);
    to[i] = store<T>(value);
  }
}

template <class T>
cudaError_t combine(void* to, const sources& all_sources, int64_t count, reduction by, bool average,
                    cudaStream_t in) {
  return launch(combine_each<T>, blocks_for(count), threads_per_block, in, static_cast<T*>(to),
                all_sources, count, by, average);
}

} // namespace

cudaError_t launch_combine(void* to, std::span<const void* const> from, int64_t count, dtype type,
                           reduction by, bool average, cudaStream_t in) {
  if (count == 0)
    return cudaSuccess;
  if (from.empty() || from.size() > max_combined)
    return cudaErrorInvalidValue;
  sources all_sources{};
  all_sources.count = static_cast<int>(from.size());
  for (size_t i = 0; i < from.size(); ++i)
    all_sources.from[i] = from[i];
  switch (type) {
    case dtype::f16: return combine<float16>(to, all_sources, count, by, average, in);
    case dtype::bf16: return combine<bfloat16>(to, all_sources, count, by, average, in);
    case dtype::f32: return combine<float>(to, all_sources, count, by, average, in);
    case dtype::f64: return combine<double>(to, all_sources, count, by, average, in);
    case dtype::i32: return combine<int32_t>(to, all_sources, count, by, average, in);
    case dtype::i64: return combine<int64_t>(to, all_sources, count, by, average, in);
    default: return cudaErrorInvalidValue;
  }
}

} // namespace troupe::gpu
