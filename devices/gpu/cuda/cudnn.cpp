#if __has_include(<cudnn.h>)
#include "troupe/devices/gpu/cuda/cudnn.hpp"

namespace troupe::gpu {

cudnn_handle::~cudnn_handle() {
  if (handle && owner->make_current())
    static_cast<void>(cudnnDestroy(handle));
}

result<std::shared_ptr<cudnn_handle>> make_cudnn_handle(gpu_device& target) {
  auto created = std::make_shared<cudnn_handle>();
  created->owner = &target.driver();
  TROUPE_TRY(cudnnCreate(&created->handle));
  return created;
}

cudnnDataType_t element_type(dtype type) {
  switch (type) {
    case dtype::f16: return CUDNN_DATA_HALF;
    case dtype::bf16: return CUDNN_DATA_BFLOAT16;
    case dtype::f64: return CUDNN_DATA_DOUBLE;
    default: return CUDNN_DATA_FLOAT;
  }
}

result<tensor_form> describe_images(dtype type, bool channels_last, std::span<const int> extents) {
  tensor_form created;
  TROUPE_TRY(cudnnCreateTensorDescriptor(created.out()));
  TROUPE_TRY(cudnnSetTensorNdDescriptorEx(
      created.get(), channels_last ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW, element_type(type),
      static_cast<int>(extents.size()), extents.data()));
  return created;
}

bool fit_cudnn(std::initializer_list<int64_t> extents) {
  int64_t elements = 1;
  for (auto extent : extents) {
    if (extent < 1 || extent > INT32_MAX || elements > INT32_MAX / extent)
      return false;
    elements *= extent;
  }
  return true;
}

} // namespace troupe::gpu
#endif
