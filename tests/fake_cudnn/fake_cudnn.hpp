// A fake cuDNN. Its convolutions do what the test defines, or, as its layers, what cuDNN's
// reference documents, on the thread of a simulated GPU's stream.
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace troupe::test {

struct fake_algorithm {
  size_t workspace = 0;
  bool deterministic = true;
  bool works = true; ///< otherwise launches are refused
  bool joins = true; ///< otherwise launches with a bias are refused
};

/// Which of a window's largest elements get its gradient: cuDNN does not document that.
enum class fake_ties { first, last, all };

/// The behaviour of the library, set before it is called, by one thread at a time.
struct fake_cudnn {
  std::vector<fake_algorithm> algorithms; ///< in the order of advice, numbered from 0
  /// Launches an algorithm that writes `result`; if null, convolutions are computed.
  std::function<void(cudaStream_t in, int algorithm, void* result, void* workspace)> launch;

  /// Launches a computation.
  std::function<void(cudaStream_t in, std::function<void()> body)> run;
  fake_ties ties = fake_ties::first;
  bool refuses_layers = false;
  bool sees_nan = true; ///< whether poolings treat NaNs as the descriptor says
  /// The number of launches of each function; for any thread.
  int calls(const std::string& function) {
    std::lock_guard guard{mutex};
    return counted[function];
  }
  std::mutex mutex;
  std::map<std::string, int> counted;

  __attribute__((visibility("default"))) static fake_cudnn& instance();
};

} // namespace troupe::test
