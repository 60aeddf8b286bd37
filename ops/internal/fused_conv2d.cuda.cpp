#include "troupe/ops/conv/shared/convolution.cuda.hpp"

namespace troupe::ops::fused_conv2d_gpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto settings, read_fused_conv2d(setup));
  return std::shared_ptr<void>{std::make_shared<convolution_setup>(std::move(settings))};
}

} // namespace

extern constexpr kernel_def fused_conv2d_cuda{
    .op = "_FusedConv2D",
    .device = device_kind::gpu,
    .run = {{dtype::f16, convolve_on_gpu},
            {dtype::bf16, convolve_on_gpu},
            {dtype::f32, convolve_on_gpu}},
    .prepare = prepare,
};

} // namespace troupe::ops::fused_conv2d_gpu
