#include "troupe/devices/gpu/cuda/add_bias.cuda.hpp"

#include "troupe/devices/gpu/core/elements.cuda.hpp"

namespace troupe::gpu {
namespace {

// Divisions of 32-bit integers are several times as fast as those of 64-bit integers.
template <class T, class Index>
__global__ void add_each(T* values, const T* bias, int64_t count, Index channels, Index inner,
                         bool rectify) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += int64_t{blockDim.x} * gridDim.x) {
    auto channel = static_cast<Index>(i) / inner % channels;
    auto value = load(values[i]) + load(bias[channel]);
    values[i] = store<T>(rectify && value <= 0 ? 0.0f : value);
  }
}

template <class T>
cudaError_t add(const biased_result& output, const epilogue& applied, cudaStream_t in) {
  auto count = output.elements();
  auto* values = static_cast<T*>(output.values);
  const auto* bias = static_cast<const T*>(applied.bias);
  if (count <= UINT32_MAX)
    return launch(add_each<T, uint32_t>, blocks_for(count), threads_per_block, in, values, bias,
                  count, static_cast<uint32_t>(output.channels),
                  static_cast<uint32_t>(output.inner), applied.rectify);
  return launch(add_each<T, int64_t>, blocks_for(count), threads_per_block, in, values, bias, count,
                output.channels, output.inner, applied.rectify);
}

} // namespace

cudaError_t launch_add_bias(const biased_result& output, const epilogue& applied, cudaStream_t in) {
  switch (output.type) {
    case dtype::f16: return add<float16>(output, applied, in);
    case dtype::bf16: return add<bfloat16>(output, applied, in);
    case dtype::f32: return add<float>(output, applied, in);
    default: return cudaErrorInvalidValue;
  }
}

} // namespace troupe::gpu
