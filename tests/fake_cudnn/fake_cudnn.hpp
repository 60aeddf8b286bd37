// A library that calls itself cuDNN, and computes what the test says: for its callers' sake.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <vector>

namespace troupe::test {

struct fake_algorithm {
  size_t workspace = 0;
  bool deterministic = true;
  bool works = true; ///< else launches are refused
};

/// What the library does; to be set before it is called, by one thread at a time.
struct fake_cudnn {
  std::vector<fake_algorithm> algorithms; ///< as they are advised, numbered from 0
  /// Launches an algorithm that writes `result`.
  std::function<void(cudaStream_t in, int algorithm, void* result, void* workspace)> launch;

  __attribute__((visibility("default"))) static fake_cudnn& instance();
};

} // namespace troupe::test
