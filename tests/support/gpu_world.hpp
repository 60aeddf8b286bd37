// Where a test runs that is written once for simulated GPUs and for real ones.
#pragma once
#include "troupe/actors/session/client.hpp"
#include "troupe/devices/gpu/core/memory_options.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace troupe::test {

struct gpu_world {
  const registry* ops;
  /// One processor and a GPU.
  std::function<result<std::vector<std::shared_ptr<device>>>(const gpu::memory_options&)> make;

  static gpu_world simulated();
  static gpu_world real();
};

/// A local session on the GPU of a world.
struct gpu_world_session {
  explicit gpu_world_session(const gpu_world& on, client_options options = {},
                             const gpu::memory_options& memory = {});

  /// Returns when the GPU has done what it was given.
  void settle() const;

  std::vector<std::shared_ptr<device>> devices; ///< the GPU is the last one
  std::unique_ptr<troupe::client> client;
};

} // namespace troupe::test
