// Softmax by cuDNN.
#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/cudnn.hpp"
#include "troupe/devices/gpu/cuda/cudnn_layers.hpp"

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSoftmaxForward);

} // namespace

bool cudnn_offers(const softmax_layer& what) { return fit_cudnn({what.rows, what.classes}); }

status cudnn_layers::softmax(const call& at, const softmax_layer& what, const void* x, void* y) {
  const std::array extents{static_cast<int>(what.rows), static_cast<int>(what.classes), 1, 1};
  TROUPE_ASSIGN(auto rows, describe_images(what.type, false, extents));
  const blending factors{what.type};
  return with_cudnn(at.on, [&](auto by) {
    // The fast algorithm does not subtract the largest of a row, and overflows.
    return cudnnSoftmaxForward(by, what.logarithm ? CUDNN_SOFTMAX_LOG : CUDNN_SOFTMAX_ACCURATE,
                               CUDNN_SOFTMAX_MODE_INSTANCE, factors.one(), rows.get(), x,
                               factors.zero(), rows.get(), y);
  });
}

} // namespace troupe::gpu
#endif
