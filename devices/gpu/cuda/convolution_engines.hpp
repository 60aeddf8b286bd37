// Convolutions by the engines of cuDNN's graph API, some of which are faster than the functions
// that convolve.cpp calls.
#pragma once
#include "troupe/devices/gpu/cuda/convolve.hpp"
#include "troupe/devices/gpu/cuda/cudnn.hpp"

#include <vector>

namespace troupe::gpu {

inline TROUPE_LIBRARY_FUNCTION(cudnn, cudnnBackendDestroyDescriptor);

using graph_form = library_object<cudnnBackendDescriptor_t, cudnnBackendDestroyDescriptor>;

/// An engine that computes a convolution of tensors that are aligned to 16 bytes.
struct convolution_engine {
  graph_form plan;
  size_t workspace = 0; ///< bytes
  bool deterministic = false;
};
constexpr size_t engine_alignment = 16;

/// Returns at most `max_engines` engines, best first by cuDNN's heuristics. Engines for f32 round
/// their operands only if `rounds`. No engine needs more than `max_workspace` bytes.
result<std::vector<convolution_engine>> find_engines(cudnnHandle_t handle,
                                                     const convolution& problem, bool rounds,
                                                     size_t max_workspace, size_t max_engines);

/// Launches the engine; one of the three tensors is the output.
status launch(cudnnHandle_t handle, const convolution_engine& engine, void* input, void* filter,
              void* output, void* workspace);

} // namespace troupe::gpu
