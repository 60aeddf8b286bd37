// What all that speaks to cuDNN shares: a handle for each device, tensors as it wants them
// described.
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

/// A device's. It is used by one thread at a time.
struct cudnn_handle {
  ~cudnn_handle();

  driver* of = nullptr;
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;
};

result<std::shared_ptr<cudnn_handle>> make_cudnn_handle(gpu_device& on);

/// Returns launch(handle): what that launches goes where this thread's launches go, which may be
/// elsewhere than those of others while it makes a recording.
template <class Launch>
status with_cudnn(gpu_device& on, Launch&& launch) {
  TROUPE_TRY(on.driver().make_current());
  TROUPE_ASSIGN(auto* own, on.kept<cudnn_handle>(make_cudnn_handle));
  std::lock_guard guard{own->mutex};
  TROUPE_TRY(cudnnSetStream(own->handle, reinterpret_cast<cudaStream_t>(on.compute())));
  return launch(own->handle);
}

/// Floating-point types only.
cudnnDataType_t element_type(dtype type);

/// Packed images, as cuDNN counts extents: the channels behind the images, wherever they lie.
result<tensor_form> describe_images(dtype type, bool channels_last, std::span<const int> extents);

/// cuDNN takes extents of 32 bits, and as many elements.
bool fit_cudnn(std::initializer_list<int64_t> extents);

/// Factors of what is computed and of what was there before, in the type that belongs to a
/// tensor's.
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
