// The use of cuDNN: a handle for each device, and descriptions of tensors.
#pragma once
#include "troupe/devices/gpu/core/gpu_device.hpp"
#include "troupe/devices/gpu/cuda/libraries.hpp"

#include <cudnn.h>

#include <array>
#include <span>

namespace troupe::gpu {

inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreate);
inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroy);
inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetStream);
inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnCreateTensorDescriptor);
inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnDestroyTensorDescriptor);
inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnSetTensorNdDescriptorEx);

using tensor_form = library_object<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;

/// The handle of a device. One thread uses it at a time.
struct cudnn_handle {
  ~cudnn_handle();

  driver* owner = nullptr;
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
};

result<std::shared_ptr<cudnn_handle>> make_cudnn_handle(gpu_device& target);

/// Returns launch(handle). The handle launches into the stream of this thread, which is another one
/// during a capture.
template <class Launch>
status with_cudnn(gpu_device& target, Launch&& launch) {
  TROUPE_TRY(target.driver().make_current());
  TROUPE_ASSIGN(auto* shared, target.get_or_make<cudnn_handle>(make_cudnn_handle));
  std::lock_guard guard{shared->mutex};
  TROUPE_TRY(cudnnSetStream(shared->handle, reinterpret_cast<cudaStream_t>(target.compute())));
  return launch(shared->handle);
}

/// Floating-point types only.
cudnnDataType_t element_type(dtype type);

/// Describes packed images. Extents are in cuDNN's order: the channels after the images.
result<tensor_form> describe_images(dtype type, bool channels_last, std::span<const int> extents);

/// Whether each extent and the number of elements have 32 bits, cuDNN's limit.
bool fit_cudnn(std::initializer_list<int64_t> extents);

/// The factors 1 and 0 for new and old values, in the type that cuDNN expects for a tensor type.
class blending {
public:
  explicit blending(dtype type) : wide_(type == dtype::f64) {}
  const void* one() const { return wide_ ? static_cast<const void*>(&doubles_[1]) : &floats_[1]; }
  const void* zero() const { return wide_ ? static_cast<const void*>(&doubles_[0]) : &floats_[0]; }

private:
  bool wide_;
  float floats_[2] = {0, 1};
  double doubles_[2] = {0, 1};
};

} // namespace troupe::gpu
