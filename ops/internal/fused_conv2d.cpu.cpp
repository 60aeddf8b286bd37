// A convolution with a bias per channel and an optional ReLU. oneDNN adds the bias while it writes
// the output, and each part is rectified while it is in the cache.
#include "troupe/ops/conv/shared/convolution.cpu.hpp"

namespace troupe::ops::fused_conv2d_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto settings, read_fused_conv2d(setup));
  auto state = std::make_shared<convolution_state>();
  static_cast<convolution_setup&>(*state) = std::move(settings);
  return std::shared_ptr<void>{std::move(state)};
}

} // namespace

extern constexpr kernel_def fused_conv2d_cpu{
    .op = "_FusedConv2D",
    .run = {{dtype::f16, convolve<float16>},
            {dtype::bf16, convolve<bfloat16>},
            {dtype::f32, convolve<float>}},
    .prepare = prepare,
};

} // namespace troupe::ops::fused_conv2d_cpu
