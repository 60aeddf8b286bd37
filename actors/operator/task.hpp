// A process of a cluster, from start to stop: its worker, devices and listening port.
#pragma once
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/runtime/cluster/cluster_coordinator.hpp"
#include "troupe/runtime/cluster/succession.hpp"
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/insight/log_event.hpp"
#include "troupe/serialization/discovery/address_source.hpp"
#include "troupe/serialization/tls/tls_files.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace troupe {

struct task_options {
  const registry* ops = nullptr; ///< must outlive the task
  device_maker make_devices;
  cluster_access cluster;
  /// The number -1 requests any number from a cluster that assigns numbers.
  task_name self;
  std::string listen; ///< "host:port"; empty: the address that the cluster has for this task
  tls_files tls = {}; ///< all connections use TLS; none: no encryption
  std::string access_list = {}; ///< a file: the rights of clients; none: all rights. Needs TLS
  bool insecure = false;        ///< allows unencrypted connections to other machines
  size_t inter_op_threads = 0;  ///< 0: one per core
  std::chrono::milliseconds peer_timeout{10'000};
  bool deterministic = false;      ///< in all sessions, results do not depend on thread counts
  bool gpu_launch_threads = false; ///< each GPU has a launch thread
  /// Large tensors of processes of this machine are read from their memory, where the system allows
  /// it.
  bool same_host_reads = true;
  /// Called on any thread with each warning, such as a refused caller or an unusable file. Must not
  /// block.
  std::function<void(const std::string&)> on_warning = {};
  /// Called once, on any thread, when the task can no longer serve although it was not stopped. The
  /// process should end, so that its supervisor restarts it.
  std::function<void(const status&)> on_failure = {};
  /// Called with the events of the task (docs/operating.md).
  log_hook on_log = {};
  /// Called when an operator wants the task to end (`troupe drain`), unless it is draining already.
  /// Runs on a thread of the task that it must not block: have another thread call task::drain and
  /// end the process. Meanwhile the task accepts no new work.
  std::function<void()> on_drain = {};
  /// "host:port" that serves operators over HTTP (docs/operating.md); port 0: any; empty: not
  /// served. Must be on loopback, unless `http_allow_remote` or `insecure` is set: all who reach it
  /// can read names of nodes, files and peers, but can change nothing.
  std::string http = {};
  bool http_allow_remote = false;
  /// The address that this task announces, where it announces one; empty: the one it listens at.
  std::string advertise = {};
  /// How long the task waits for its number. `give_up` is polled five times a second; true ends the
  /// wait.
  std::chrono::milliseconds join_timeout{300'000};
  std::function<bool()> give_up = {};
  hosting_limits hosting = {}; ///< of sessions of clients
  /// If set, a session must initialize the task before it serves its state. Until then the task
  /// refuses steps that use its state: with `unavailable` for so long, then with
  /// `failed_precondition` (docs/recovery.md). If not set, the state is available from the start,
  /// and is empty.
  std::optional<std::chrono::milliseconds> initialize_before_serving = {};
  coordinator_options member_times = {}; ///< of the task that assigns numbers
  succession_options vote_times = {};    ///< of tasks that may be elected in its place
};

/// Serves other tasks and clients until it is destroyed, which takes at most two seconds.
class task {
public:
  /// In a cluster that tasks join, returns when the task has its number. Fails if the options are
  /// incomplete or contradict each other, if a file or an address cannot be used, or if the cluster
  /// grants no number in time.
  static result<std::unique_ptr<task>> start(task_options options);
  virtual ~task() = default;
  virtual task_name self() const = 0;
  virtual uint16_t port() const noexcept = 0; ///< that the task listens at
  virtual uint64_t incarnation() const noexcept = 0;
  virtual uint16_t http_port() const noexcept = 0; ///< 0: none

  /// Refuses new steps and programs from now on with `unavailable`, also at /readyz. Waits until
  /// running steps have ended and their answers are sent, but not longer than the patience. Returns
  /// the work that is left; the destructor fails it. Any thread may call.
  struct drain_result {
    size_t steps = 0;       ///< running
    size_t connections = 0; ///< with unsent messages
    bool none() const noexcept { return steps == 0 && connections == 0; }
  };
  virtual drain_result drain(std::chrono::milliseconds patience) = 0;
};

} // namespace troupe
