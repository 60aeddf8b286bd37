// A fixture for tests that run on simulated GPUs as well as on real ones.
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
  explicit gpu_world_session(const gpu_world& world, client_options options = {},
                             const gpu::memory_options& memory = {});

  /// Returns when the GPU has finished all enqueued work.
  void settle() const;

  std::vector<std::shared_ptr<device>> devices; ///< the GPU is the last one
  std::unique_ptr<troupe::client> client;
};

} // namespace troupe::test
