// A library that calls itself cuBLASLt, and computes what cuBLASLt's reference says of products, on
// the thread of a simulated GPU's stream.
#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>

namespace troupe::test {

/// What the library does with a bias.
enum class fake_epilogues { joined, without_algorithm, refused };

/// To be set before it is called, by one thread at a time.
struct fake_cublas_lt {
  fake_epilogues epilogues = fake_epilogues::joined;
  int algorithms = 2; ///< that it advises, at most as many as are asked for
  int refuses = 0;    ///< of these, the first ones, when they are to run
  /// Launches what is computed.
  std::function<void(cudaStream_t in, std::function<void()> body)> run;
  std::atomic<int> questions = 0; ///< for its advice
  std::atomic<int> launches = 0;

  __attribute__((visibility("default"))) static fake_cublas_lt& instance();
};

} // namespace troupe::test
