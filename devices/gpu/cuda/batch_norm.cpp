// Batch normalization by cuDNN. Does not use its persistent mode, which may overflow.
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

result<described> describe(const batch_norm_layer& problem) {
  described described_forms;
  auto flat = problem.extents[0] == 1;
  std::array<int, 5> extents{static_cast<int>(problem.images), static_cast<int>(problem.channels)};
  size_t rank = 2;
  for (size_t i = flat ? 1 : 0; i < 3; ++i)
    extents[rank++] = static_cast<int>(problem.extents[i]);
  TROUPE_ASSIGN(described_forms.images,
                describe_images(problem.type, problem.channels_last, {extents.data(), rank}));
  TROUPE_TRY(cudnnCreateTensorDescriptor(described_forms.channels.out()));
  TROUPE_TRY(cudnnDeriveBNTensorDescriptor(described_forms.channels.get(),
                                           described_forms.images.get(), mode));
  return described_forms;
}

// cuDNN computes new + 0 * old, so the old values must not be NaN.
status clear(gpu_device& target, const batch_norm_layer& problem, void* vector) {
  const double zero = 0;
  auto bytes = problem.type == dtype::f64 ? sizeof(double) : sizeof(float);
  return target.driver().fill(vector, &zero, bytes, problem.channels, target.compute());
}

} // namespace

bool cudnn_offers(const batch_norm_layer& problem) {
  auto [depth, rows, columns] = problem.extents;
  if (!(problem.epsilon >= CUDNN_BN_MIN_EPSILON) || !std::isfinite(problem.epsilon) ||
      !fit_cudnn({problem.images, problem.channels, depth, rows, columns}))
    return false;
  // The unbiased variance of a single element is undefined.
  return problem.computes == batch_norm_layer::step::inference ||
         problem.images * depth * rows * columns > 1;
}

status cudnn_layers::normalize(const call& at, const batch_norm_layer& problem, const void* x,
                               const factors& affine, void* mean, void* variance, void* y) {
  TROUPE_ASSIGN(auto forms, describe(problem));
  const blending factors{problem.type};
  auto *images = forms.images.get(), *channels = forms.channels.get();
  if (problem.computes == batch_norm_layer::step::inference)
    return with_cudnn(at.on, [&](auto handle) {
      return cudnnBatchNormalizationForwardInference(
          handle, mode, factors.one(), factors.zero(), images, x, images, y, channels, affine.scale,
          affine.offset, mean, variance, problem.epsilon);
    });
  TROUPE_TRY(at.on.driver().make_current());
  TROUPE_TRY(clear(at.on, problem, mean));
  TROUPE_TRY(clear(at.on, problem, variance));
  // A moving average with factor 1 is the batch's. cuDNN's saved 1 / sqrt(variance + epsilon) is
  // not used, because it hides a small variance.
  return with_cudnn(at.on, [&](auto handle) {
    return cudnnBatchNormalizationForwardTraining(
        handle, mode, factors.one(), factors.zero(), images, x, images, y, channels, affine.scale,
        affine.offset, 1.0, mean, variance, problem.epsilon, nullptr, nullptr);
  });
}

status cudnn_layers::normalize_back(const call& at, const batch_norm_layer& problem,
                                    const normalized& forward, const void* dy, void* dx,
                                    void* dscale, void* doffset) {
  TROUPE_ASSIGN(auto forms, describe(problem));
  const blending factors{problem.type};
  auto *images = forms.images.get(), *channels = forms.channels.get();
  return with_cudnn(at.on, [&](auto handle) {
    return cudnnBatchNormalizationBackward(handle, mode, factors.one(), factors.zero(),
                                           factors.one(), factors.zero(), images, forward.x, images,
                                           dy, images, dx, channels, forward.scale, dscale, doffset,
                                           problem.epsilon, forward.mean, forward.inverse);
  });
}

} // namespace troupe::gpu
#endif
