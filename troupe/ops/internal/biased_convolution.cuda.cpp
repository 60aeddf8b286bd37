#include "troupe/ops/conv/shared/convolution.cuda.hpp"

namespace troupe::ops::biased_convolution_gpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  TROUPE_ASSIGN(auto made, read_biased_convolution(setup));
  return std::shared_ptr<void>{std::make_shared<convolution_setup>(std::move(made))};
}

} // namespace

extern constexpr kernel_def biased_convolution_cuda{
    .op = "_BiasedConvolution",
    .device = device_kind::gpu,
    .run = {{dtype::f16, convolve_on_gpu},
            {dtype::bf16, convolve_on_gpu},
            {dtype::f32, convolve_on_gpu}},
    .prepare = prepare,
};

} // namespace troupe::ops::biased_convolution_gpu
