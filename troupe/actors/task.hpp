// One process of a cluster: its worker, devices and listening port, from start to stop.
#pragma once
#include "troupe/actors/client.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/serialization/files/cluster.hpp"

#include <cstdint>
#include <memory>

namespace troupe {

struct task_options {
  const registry* ops = nullptr; ///< must outlive the task
  device_maker make_devices;
  cluster_spec cluster;
  task_name self;
  std::string listen;    ///< "host:port"; empty: the address that the cluster gives to this task
  bool insecure = false; ///< allows an address other than loopback, without encryption
  size_t inter_op_threads = 0; ///< 0: one per core
  std::chrono::milliseconds peer_timeout{10'000};
  bool deterministic = false;      ///< the same bits for any number of threads, for all sessions
  bool gpu_launch_threads = false; ///< each GPU has one
  /// Large tensors of processes of this machine are read out of their memory, where that is
  /// allowed.
  bool near_memory = true;
  /// Told once, on any thread, when the task can serve no longer though it was not stopped: end the
  /// process, so that whoever watches it starts another.
  std::function<void(const status&)> on_failure = {};
};

/// Serves other tasks and clients until it is destroyed, which takes at most two seconds.
class task {
public:
  static result<std::unique_ptr<task>> start(task_options options);
  virtual ~task() = default;
  virtual uint16_t port() const noexcept = 0; ///< where it listens
  virtual uint64_t incarnation() const noexcept = 0;
};

} // namespace troupe
