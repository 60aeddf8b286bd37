// The kernels of convolutions on NVIDIA GPUs, by cuDNN.
#pragma once
#include "troupe/ops/conv/shared/convolution_task.hpp"

namespace troupe::ops {

status convolve_on_gpu(kernel_context& at);

template <convolution_family Family, convolution_role Role>
result<std::shared_ptr<void>> prepare_gpu_convolution(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto convolution_settings, read_convolution(setup, {Family, Role}));
  return std::shared_ptr<void>{
      std::make_shared<convolution_setup>(std::move(convolution_settings))};
}

inline constexpr inplace_vector<typed_kernel, 18> gpu_convolutions{
    {dtype::f16, convolve_on_gpu},
    {dtype::bf16, convolve_on_gpu},
    {dtype::f32, convolve_on_gpu},
    {dtype::f64, convolve_on_gpu},
};

} // namespace troupe::ops
