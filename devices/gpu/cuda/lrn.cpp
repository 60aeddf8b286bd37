// Local response normalization by cuDNN.
#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/cudnn.hpp"
#include "troupe/devices/gpu/cuda/cudnn_layers.hpp"

#include <cmath>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreateLRNDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroyLRNDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetLRNDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnLRNCrossChannelForward);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnLRNCrossChannelBackward);

using lrn_form = library_object<cudnnLRNDescriptor_t, cudnnDestroyLRNDescriptor>;

struct described {
  tensor_form images;
  lrn_form norm;
};

int64_t neighbours(const lrn_layer& what) { return 2 * what.radius + 1; }

result<described> describe(const lrn_layer& what) {
  described made;
  const std::array extents{static_cast<int>(what.images), static_cast<int>(what.channels),
                           static_cast<int>(what.rows), static_cast<int>(what.columns)};
  TROUPE_ASSIGN(made.images, describe_images(what.type, true, extents));
  TROUPE_TRY(cudnnCreateLRNDescriptor(made.norm.out()));
  auto count = neighbours(what); // by which cuDNN divides alpha, at the borders, too
  TROUPE_TRY(cudnnSetLRNDescriptor(made.norm.get(), static_cast<unsigned>(count),
                                   what.alpha * static_cast<double>(count), what.beta, what.bias));
  return made;
}

} // namespace

bool cudnn_offers(const lrn_layer& what) {
  return what.radius <= CUDNN_LRN_MAX_N && neighbours(what) <= CUDNN_LRN_MAX_N &&
         what.bias >= CUDNN_LRN_MIN_K && std::isfinite(what.bias) &&
         what.beta >= CUDNN_LRN_MIN_BETA && std::isfinite(what.beta) && what.alpha >= 0 &&
         std::isfinite(what.alpha) &&
         fit_cudnn({what.images, what.rows, what.columns, what.channels});
}

status cudnn_layers::lrn(const call& at, const lrn_layer& what, const void* x, void* y) {
  TROUPE_ASSIGN(auto as, describe(what));
  const blending factors{what.type};
  return with_cudnn(at.on, [&](auto by) {
    return cudnnLRNCrossChannelForward(by, as.norm.get(), CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                       factors.one(), as.images.get(), x, factors.zero(),
                                       as.images.get(), y);
  });
}

status cudnn_layers::lrn_back(const call& at, const lrn_layer& what, const void* x, const void* y,
                              const void* dy, void* dx) {
  TROUPE_ASSIGN(auto as, describe(what));
  const blending factors{what.type};
  auto* images = as.images.get();
  return with_cudnn(at.on, [&](auto by) {
    return cudnnLRNCrossChannelBackward(by, as.norm.get(), CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                        factors.one(), images, y, images, dy, images, x,
                                        factors.zero(), images, dx);
  });
}

} // namespace troupe::gpu
#endif
