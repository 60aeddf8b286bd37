#include "tests/fake_cudnn/fake_forms.hpp"

#include "troupe/runtime/types/dtype.hpp"

#include <algorithm>

namespace troupe::test {

int64_t fake_tensor::elements() const {
  int64_t count = 1;
  for (auto extent : extents)
    count *= extent;
  return count;
}

int64_t fake_tensor::place(const std::array<int64_t, 5>& at) const {
  int64_t sum = 0;
  for (size_t i = 0; i < 5; ++i)
    sum += at[i] * strides[i];
  return sum;
}

fake_tensor& form_of(cudnnTensorDescriptor_t descriptor) {
  return *reinterpret_cast<fake_tensor*>(descriptor);
}

double read(cudnnDataType_t type, const void* from, int64_t place) {
  switch (type) {
    case CUDNN_DATA_HALF:
      return static_cast<double>(static_cast<float>(static_cast<const float16*>(from)[place]));
    case CUDNN_DATA_BFLOAT16:
      return static_cast<double>(static_cast<float>(static_cast<const bfloat16*>(from)[place]));
    case CUDNN_DATA_DOUBLE: return static_cast<const double*>(from)[place];
    default: return static_cast<double>(static_cast<const float*>(from)[place]);
  }
}

void write(cudnnDataType_t type, void* to, int64_t place, double value) {
  auto narrow = static_cast<float>(value);
  switch (type) {
    case CUDNN_DATA_HALF: static_cast<float16*>(to)[place] = static_cast<float16>(narrow); break;
    case CUDNN_DATA_BFLOAT16:
      static_cast<bfloat16*>(to)[place] = static_cast<bfloat16>(narrow);
      break;
    case CUDNN_DATA_DOUBLE: static_cast<double*>(to)[place] = value; break;
    default: static_cast<float*>(to)[place] = narrow;
  }
}

fake_blend::fake_blend(const fake_tensor& form, const void* a, const void* b) {
  auto wide = form.type == CUDNN_DATA_DOUBLE;
  auto factor = [&](const void* from) {
    return wide ? *static_cast<const double*>(from)
                : static_cast<double>(*static_cast<const float*>(from));
  };
  alpha = factor(a);
  beta = factor(b);
}

void fake_blend::put(cudnnDataType_t type, void* to, int64_t place, double value) const {
  write(type, to, place, alpha * value + (beta == 0 ? 0 : beta * read(type, to, place)));
}

cudnnStatus_t run_fake(cudnnHandle_t handle, const char* function, std::function<void()> body) {
  auto& fake = fake_cudnn::instance();
  if (fake.refuses_layers)
    return CUDNN_STATUS_NOT_SUPPORTED;
  {
    std::lock_guard guard{fake.mutex};
    ++fake.counted[function];
  }
  fake.run(reinterpret_cast<fake_handle*>(handle)->stream, std::move(body));
  return CUDNN_STATUS_SUCCESS;
}

} // namespace troupe::test

using namespace troupe::test;

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t* to) {
  *to = reinterpret_cast<cudnnTensorDescriptor_t>(new fake_tensor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t descriptor) {
  delete reinterpret_cast<fake_tensor*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

// Packed, with the channels at the position of the format.
cudnnStatus_t cudnnSetTensorNdDescriptorEx(cudnnTensorDescriptor_t to, cudnnTensorFormat_t format,
                                           cudnnDataType_t type, int rank, const int* extents) {
  if (rank < 4 || rank > 5)
    return CUDNN_STATUS_NOT_SUPPORTED;
  auto& form = form_of(to);
  form = {};
  form.type = type;
  form.rank = rank;
  std::array<size_t, 5> order{4, 3, 2, 1, 0}; // from the axis that changes fastest
  if (format == CUDNN_TENSOR_NHWC)
    order = {1, 4, 3, 2, 0};
  for (int i = 0; i < rank; ++i) {
    if (extents[i] < 1)
      return CUDNN_STATUS_BAD_PARAM;
    form.extents[i < 2 ? static_cast<size_t>(i) : static_cast<size_t>(i + 5 - rank)] = extents[i];
  }
  int64_t step = 1;
  for (auto axis : order) {
    form.strides[axis] = step;
    step *= form.extents[axis];
  }
  return CUDNN_STATUS_SUCCESS;
}
