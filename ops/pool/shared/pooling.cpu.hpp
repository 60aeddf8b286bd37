// The kernels of poolings. Each channel is pooled separately, so that images with the channels
// first count as more images of one channel.
#pragma once
#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/pool/shared/pool_kernels.hpp"

namespace troupe::ops {

/// The number of the largest element in the window of each output, the first among equals; -1 where
/// the window is empty. An i32 tensor of the output's shape.
result<tensor> find_largest(kernel_context& at, const pooling& geometry, const tensor& input);

/// For the real types.
template <class T>
status max_pool(kernel_context& at);
/// Input 2 is the gradient of the windows of input 0.
template <class T>
status max_pool_gradient(kernel_context& at);

/// For floating types.
template <class T>
status average_pool(kernel_context& at);
/// Input 0 lists the sizes of the pooled tensor, input 1 is the gradient of its windows.
template <class T>
status average_pool_gradient(kernel_context& at);

/// Input 2 has the shape of input 0; the output has its elements at the maxima of input 0.
status max_pool_second_gradient(kernel_context& at);

/// Output 1 has the positions in input 0 of the elements of output 0.
status max_pool_with_places(kernel_context& at);

/// The checked operands of kernels that take such positions as input.
struct given_places {
  pooling of;
  tensor places; ///< i64, counted from the first image
};

/// Positions count from the first element of their image, or of the first image. Fails for a
/// position outside of its window's image.
result<given_places> take_places(kernel_context& at, const tensor& argmax);

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_kernels(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool<Ts>}...};
}
template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> max_pool_gradients(type_list<Ts...>) {
  return {{dtype_of<Ts>, max_pool_gradient<Ts>}...};
}
inline constexpr inplace_vector<typed_kernel, 18> average_pools{
    {dtype::f16, average_pool<float16>},
    {dtype::bf16, average_pool<bfloat16>},
    {dtype::f32, average_pool<float>},
    {dtype::f64, average_pool<double>},
};
inline constexpr inplace_vector<typed_kernel, 18> average_pool_gradients{
    {dtype::f16, average_pool_gradient<float16>},
    {dtype::bf16, average_pool_gradient<bfloat16>},
    {dtype::f32, average_pool_gradient<float>},
    {dtype::f64, average_pool_gradient<double>},
};
inline constexpr type_list<float16, bfloat16, float, double, int32_t, int64_t, uint8_t, int16_t,
                           int8_t, uint16_t>
    max_pool_types;

} // namespace troupe::ops
