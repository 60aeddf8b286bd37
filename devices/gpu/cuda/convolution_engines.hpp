// Convolutions by the engines of cuDNN's graph API, which has faster ones than the functions that
// convolve.cpp calls otherwise.
#pragma once
#include "troupe/devices/gpu/cuda/convolve.hpp"
#include "troupe/devices/gpu/cuda/cudnn.hpp"

#include <vector>

namespace troupe::gpu {

inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBackendDestroyDescriptor);

using graph_form = library_object<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>;

/// One way to compute a convolution, for tensors that begin at multiples of 16 bytes.
struct convolution_engine {
  graph_form plan;
  size_t workspace = 0; ///< bytes
  bool deterministic = false;
};
constexpr size_t engine_alignment = 16;

/// At most `most` engines, first those that cuDNN expects to be fast. Those of f32 round their
/// operands only where `rounds`. None need more than `max_workspace` bytes.
result<std::vector<convolution_engine>> find_engines(cudnnHandle_t handle, const convolution& what,
                                                     bool rounds, size_t max_workspace,
                                                     size_t most);

/// Launches it; one of the three tensors is written.
status launch(cudnnHandle_t handle, const convolution_engine& by, void* input, void* filter,
              void* output, void* workspace);

} // namespace troupe::gpu
