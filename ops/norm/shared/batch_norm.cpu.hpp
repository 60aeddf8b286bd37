// The kernels of FusedBatchNorm, over rows of channels.
#pragma once
#include "troupe/ops/conv/shared/channels.cpu.hpp"
#include "troupe/ops/norm/shared/batch_norm_kernels.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops {

/// For float16, bfloat16, float and double.
template <class T>
status batch_norm(kernel_context& at);
template <class T>
status batch_norm_gradient(kernel_context& at);

inline constexpr inplace_vector<typed_kernel, 18> batch_norms{
    {dtype::f16, batch_norm<float16>},
    {dtype::bf16, batch_norm<bfloat16>},
    {dtype::f32, batch_norm<float>},
    {dtype::f64, batch_norm<double>},
};
inline constexpr inplace_vector<typed_kernel, 18> batch_norm_gradients{
    {dtype::f16, batch_norm_gradient<float16>},
    {dtype::bf16, batch_norm_gradient<bfloat16>},
    {dtype::f32, batch_norm_gradient<float>},
    {dtype::f64, batch_norm_gradient<double>},
};

} // namespace troupe::ops
