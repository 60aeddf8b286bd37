// The kernels of all convolutions: one function; the node's state selects the computation.
#pragma once
#include "troupe/ops/conv/shared/convolution_task.hpp"
#include "troupe/ops/conv/shared/onednn_convolution.cpu.hpp"
#include "troupe/ops/kernel/lru_cache.hpp"

namespace troupe::ops {

/// The state that a node keeps across steps.
struct convolution_state : convolution_setup {
  lru_cache<convolution_shape, onednn_convolution> plans{};
};

/// For float16, bfloat16, float, double and int32_t.
template <class T>
status convolve(kernel_context& at);

result<std::shared_ptr<void>> prepare_convolution(const kernel_setup& setup, convolution_form form);

template <convolution_family Family, convolution_role Role>
result<std::shared_ptr<void>> prepare_convolution(const kernel_setup& setup) {
  return prepare_convolution(setup, {Family, Role});
}

inline constexpr inplace_vector<typed_kernel, 18> convolutions_of_floats{
    {dtype::f16, convolve<float16>},
    {dtype::bf16, convolve<bfloat16>},
    {dtype::f32, convolve<float>},
    {dtype::f64, convolve<double>},
};

inline constexpr inplace_vector<typed_kernel, 18> convolutions_of_numbers{
    {dtype::f16, convolve<float16>}, {dtype::bf16, convolve<bfloat16>},
    {dtype::f32, convolve<float>},   {dtype::f64, convolve<double>},
    {dtype::i32, convolve<int32_t>},
};

} // namespace troupe::ops
