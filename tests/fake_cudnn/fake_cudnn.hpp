// A library that calls itself cuDNN. Its convolutions do what the test says, or, as its layers,
// what cuDNN's reference says of them, on the thread of a simulated GPU's stream.
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
  bool works = true; ///< else launches are refused
  bool joins = true; ///< else those with a bias are
};

/// Which of a window's largest elements get its gradient: cuDNN does not say.
enum class fake_ties { first, last, all };

/// What the library does; to be set before it is called, by one thread at a time.
struct fake_cudnn {
  std::vector<fake_algorithm> algorithms; ///< as they are advised, numbered from 0
  /// Launches an algorithm that writes `result`; null: convolutions are computed.
  std::function<void(cudaStream_t in, int algorithm, void* result, void* workspace)> launch;

  /// Launches what is computed.
  std::function<void(cudaStream_t in, std::function<void()> body)> run;
  fake_ties ties = fake_ties::first;
  bool refuses_layers = false;
  bool sees_nan = true; ///< poolings do what the descriptor says of NaNs
  /// How often each function has launched something; any thread.
  int calls(const std::string& function) {
    std::lock_guard guard{mutex};
    return counted[function];
  }
  std::mutex mutex;
  std::map<std::string, int> counted;

  __attribute__((visibility("default"))) static fake_cudnn& instance();
};

} // namespace troupe::test
