// The fake cuDNN's descriptions of tensors, and how it reads and writes elements.
#pragma once
#include "tests/fake_cudnn/fake_cudnn.hpp"

#include <cudnn.h>

#include <array>

namespace troupe::test {

struct fake_handle {
  cudaStream_t stream = nullptr;
};

/// A tensor of up to five axes; missing ones have an extent of 1: [n, c, d, h, w].
struct fake_tensor {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int rank = 0; ///< 0: not set
  std::array<int64_t, 5> extents{1, 1, 1, 1, 1}, strides{};

  int64_t elements() const;
  int64_t place(const std::array<int64_t, 5>& at) const;
  bool same_extents(const fake_tensor& other) const { return extents == other.extents; }
  /// Calls visit(place) for all elements; channels change fastest.
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::array<int64_t, 5> at{};
    for (at[0] = 0; at[0] < extents[0]; ++at[0])
      for (at[2] = 0; at[2] < extents[2]; ++at[2])
        for (at[3] = 0; at[3] < extents[3]; ++at[3])
          for (at[4] = 0; at[4] < extents[4]; ++at[4])
            for (at[1] = 0; at[1] < extents[1]; ++at[1])
              visit(at);
  }
};

fake_tensor& form_of(cudnnTensorDescriptor_t descriptor);

double read(cudnnDataType_t type, const void* from, int64_t place);
void write(cudnnDataType_t type, void* to, int64_t place, double value);

/// "alpha * result + beta * old value"; the factors are doubles for doubles, otherwise floats. A
/// value that is multiplied by zero is not read.
struct fake_blend {
  double alpha, beta;

  fake_blend(const fake_tensor& form, const void* alpha, const void* beta);
  void put(cudnnDataType_t type, void* to, int64_t place, double value) const;
};

/// Runs the body in the stream of the handle, and counts it.
cudnnStatus_t run_fake(cudnnHandle_t handle, const char* function, std::function<void()> body);

/// Launches an algorithm as the test defines, if it works and has its workspace.
cudnnStatus_t launch_fake(cudnnHandle_t handle, int algorithm, void* workspace, size_t bytes,
                          void* result);

} // namespace troupe::test
