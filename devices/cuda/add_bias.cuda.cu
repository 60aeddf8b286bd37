#include "troupe/devices/cuda/add_bias.cuda.hpp"

#include "troupe/devices/cuda/halves.cuda.hpp"

#include <algorithm>

namespace troupe::gpu {
namespace {

template <class T>
__global__ void add_each(T* matrix, const T* bias, int64_t count, int64_t columns, bool rectify) {
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count;
       i += int64_t{blockDim.x} * gridDim.x) {
    auto value = load_wide(matrix[i]) + load_wide(bias[i % columns]);
    matrix[i] = store_wide<T>(rectify && value < 0 ? 0.0f : value);
  }
}

template <class T>
cudaError_t add(void* matrix, const void* bias, int64_t count, int64_t columns, bool rectify,
                cudaStream_t in) {
  return launch(add_each<T>, blocks_for(count), threads_per_block, in, static_cast<T*>(matrix),
                static_cast<const T*>(bias), count, columns, rectify);
}

} // namespace

cudaError_t launch_add_bias(void* matrix, const void* bias, int64_t rows, int64_t columns,
                            dtype type, bool rectify, cudaStream_t in) {
  auto count = rows * columns;
  if (count == 0)
    return cudaSuccess;
  switch (type) {
    case dtype::f16: return add<float16>(matrix, bias, count, columns, rectify, in);
    case dtype::bf16: return add<bfloat16>(matrix, bias, count, columns, rectify, in);
    case dtype::f32: return add<float>(matrix, bias, count, columns, rectify, in);
    default: return cudaErrorInvalidValue;
  }
}

} // namespace troupe::gpu
