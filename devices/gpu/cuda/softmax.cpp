// Softmax by cuDNN.
#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/cudnn.hpp"
#include "troupe/devices/gpu/cuda/cudnn_layers.hpp"

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSoftmaxForward);

} // namespace

bool cudnn_offers(const softmax_layer& problem) {
  return fit_cudnn({problem.rows, problem.classes});
}

status cudnn_layers::softmax(const call& at, const softmax_layer& problem, const void* x, void* y) {
  const std::array extents{static_cast<int>(problem.rows), static_cast<int>(problem.classes), 1, 1};
  TROUPE_ASSIGN(auto rows, describe_images(problem.type, false, extents));
  const blending factors{problem.type};
  return with_cudnn(at.on, [&](auto handle) {
    // The fast algorithm does not subtract the maximum of a row, and overflows.
    return cudnnSoftmaxForward(
        handle, problem.logarithm ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE,
        CUDNN_SOFTMAX_MODE_INSTANCE, factors.one(), rows.get(), x, factors.zero(), rows.get(), y);
  });
}

} // namespace troupe::gpu
#endif
