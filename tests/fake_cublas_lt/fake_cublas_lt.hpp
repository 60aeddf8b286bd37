// A fake cuBLASLt that computes what cuBLASLt's reference documents of products, on the thread of a
// simulated GPU's stream.
#pragma once
#include <cuda_runtime_api.h>

#include <atomic>
#include <functional>

namespace troupe::test {

/// How the library treats a bias.
enum class fake_epilogues { joined, without_algorithm, refused };

/// The behaviour of the library, set before it is called, by one thread at a time.
struct fake_cublas_lt {
  fake_epilogues epilogues = fake_epilogues::joined;
  int algorithms = 2; ///< the number in its advice, at most as many as requested
  int refuses = 0;    ///< the first ones of these, refused at their launch
  /// Launches a computation.
  std::function<void(cudaStream_t in, std::function<void()> body)> run;
  std::atomic<int> advice_requests = 0; ///< requests for its advice
  std::atomic<int> launches = 0;

  __attribute__((visibility("default"))) static fake_cublas_lt& instance();
};

} // namespace troupe::test
