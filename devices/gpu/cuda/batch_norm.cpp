// Batch normalization by cuDNN. Its persistent mode, which may overflow, is not asked for.
#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/cudnn.hpp"
#include "troupe/devices/gpu/cuda/cudnn_layers.hpp"

#include <cmath>

namespace troupe::gpu {
namespace {

TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDeriveBNTensorDescriptor);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBatchNormalizationForwardTraining);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBatchNormalizationForwardInference);
TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBatchNormalizationBackward);

constexpr auto mode = CUDNN_BATCHNORM_SPATIAL;

struct described {
  tensor_form images, channels;
};

result<described> describe(const batch_norm_layer& what) {
  described made;
  auto flat = what.extents[0] == 1;
  std::array<int, 5> extents{static_cast<int>(what.images), static_cast<int>(what.channels)};
  size_t rank = 2;
  for (size_t i = flat ? 1 : 0; i < 3; ++i)
    extents[rank++] = static_cast<int>(what.extents[i]);
  TROUPE_ASSIGN(made.images,
                describe_images(what.type, what.channels_last, {extents.data(), rank}));
  TROUPE_TRY(cudnnCreateTensorDescriptor(made.channels.out()));
  TROUPE_TRY(cudnnDeriveBNTensorDescriptor(made.channels.get(), made.images.get(), mode));
  return made;
}

// The library adds what is new to what was there, times nothing: which must not be a NaN.
status clear(gpu_device& on, const batch_norm_layer& what, void* vector) {
  const double zero = 0;
  auto bytes = what.type == dtype::f64 ? sizeof(double) : sizeof(float);
  return on.driver().fill(vector, &zero, bytes, what.channels, on.compute());
}

} // namespace

bool cudnn_offers(const batch_norm_layer& what) {
  auto [depth, rows, columns] = what.extents;
  if (!(what.epsilon >= CUDNN_BN_MIN_EPSILON) || !std::isfinite(what.epsilon) ||
      !fit_cudnn({what.images, what.channels, depth, rows, columns}))
    return false;
  // Of a single element there is no variance without bias.
  return what.computes == batch_norm_layer::step::inference ||
         what.images * depth * rows * columns > 1;
}

status cudnn_layers::normalize(const call& at, const batch_norm_layer& what, const void* x,
                               const factors& with, void* mean, void* variance, void* y) {
  TROUPE_ASSIGN(auto as, describe(what));
  const blending factors{what.type};
  auto *images = as.images.get(), *channels = as.channels.get();
  if (what.computes == batch_norm_layer::step::inference)
    return with_cudnn(at.on, [&](auto by) {
      return cudnnBatchNormalizationForwardInference(by, mode, factors.one(), factors.zero(),
                                                     images, x, images, y, channels, with.scale,
                                                     with.offset, mean, variance, what.epsilon);
    });
  TROUPE_TRY(at.on.driver().make_current());
  TROUPE_TRY(clear(at.on, what, mean));
  TROUPE_TRY(clear(at.on, what, variance));
  // A moving average that moves all the way is the batch's. What the library saves for its gradient
  // is 1 / sqrt(variance + epsilon), which does not tell a small variance.
  return with_cudnn(at.on, [&](auto by) {
    return cudnnBatchNormalizationForwardTraining(
        by, mode, factors.one(), factors.zero(), images, x, images, y, channels, with.scale,
        with.offset, 1.0, mean, variance, what.epsilon, nullptr, nullptr);
  });
}

status cudnn_layers::normalize_back(const call& at, const batch_norm_layer& what,
                                    const normalized& of, const void* dy, void* dx, void* dscale,
                                    void* doffset) {
  TROUPE_ASSIGN(auto as, describe(what));
  const blending factors{what.type};
  auto *images = as.images.get(), *channels = as.channels.get();
  return with_cudnn(at.on, [&](auto by) {
    return cudnnBatchNormalizationBackward(by, mode, factors.one(), factors.zero(), factors.one(),
                                           factors.zero(), images, of.x, images, dy, images, dx,
                                           channels, of.scale, dscale, doffset, what.epsilon,
                                           of.mean, of.inverse);
  });
}

} // namespace troupe::gpu
#endif
