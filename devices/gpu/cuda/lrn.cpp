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

int64_t neighbours(const lrn_layer& problem) { return 2 * problem.radius + 1; }

result<described> describe(const lrn_layer& problem) {
  described described_forms;
  const std::array extents{static_cast<int>(problem.images), static_cast<int>(problem.channels),
                           static_cast<int>(problem.rows), static_cast<int>(problem.columns)};
  TROUPE_ASSIGN(described_forms.images, describe_images(problem.type, true, extents));
  TROUPE_TRY(cudnnCreateLRNDescriptor(described_forms.norm.out()));
  auto count = neighbours(problem); // cuDNN divides alpha by this, at the borders, too
  TROUPE_TRY(cudnnSetLRNDescriptor(described_forms.norm.get(), static_cast<unsigned>(count),
                                   problem.alpha * static_cast<double>(count), problem.beta,
                                   problem.bias));
  return described_forms;
}

} // namespace

bool cudnn_offers(const lrn_layer& problem) {
  return problem.radius <= CUDNN_LRN_MAX_N && neighbours(problem) <= CUDNN_LRN_MAX_N &&
         problem.bias >= CUDNN_LRN_MIN_K && std::isfinite(problem.bias) &&
         problem.beta >= CUDNN_LRN_MIN_BETA && std::isfinite(problem.beta) && problem.alpha >= 0 &&
         std::isfinite(problem.alpha) &&
         fit_cudnn({problem.images, problem.rows, problem.columns, problem.channels});
}

status cudnn_layers::lrn(const call& at, const lrn_layer& problem, const void* x, void* y) {
  TROUPE_ASSIGN(auto forms, describe(problem));
  const blending factors{problem.type};
  return with_cudnn(at.on, [&](auto handle) {
    return cudnnLRNCrossChannelForward(handle, forms.norm.get(), CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                       factors.one(), forms.images.get(), x, factors.zero(),
                                       forms.images.get(), y);
  });
}

status cudnn_layers::lrn_back(const call& at, const lrn_layer& problem, const void* x,
                              const void* y, const void* dy, void* dx) {
  TROUPE_ASSIGN(auto forms, describe(problem));
  const blending factors{problem.type};
  auto* images = forms.images.get();
  return with_cudnn(at.on, [&](auto handle) {
    return cudnnLRNCrossChannelBackward(handle, forms.norm.get(), CUDNN_LRN_CROSS_CHANNEL_DIM1,
                                        factors.one(), images, y, images, dy, images, x,
                                        factors.zero(), images, dx);
  });
}

} // namespace troupe::gpu
#endif
