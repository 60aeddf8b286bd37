// One process of a cluster: its worker, devices and listening port, from start to stop.
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
  /// Where tasks join, or say in the source themselves who they are, the number -1 stands for any.
  task_name self;
  std::string listen;      ///< "host:port"; empty: the address that the cluster gives to this task
  tls_files tls = {};      ///< all connections are over TLS; none: without encryption
  std::string access = {}; ///< file that says what clients may do; none: all. With TLS only
  bool insecure = false;   ///< allows other machines without encryption
  size_t inter_op_threads = 0; ///< 0: one per core
  std::chrono::milliseconds peer_timeout{10'000};
  bool deterministic = false;      ///< the same bits for any number of threads, for all sessions
  bool gpu_launch_threads = false; ///< each GPU has one
  /// Large tensors of processes of this machine are read out of their memory, where that is
  /// allowed.
  bool near_memory = true;
  /// Told, on any thread, what a log should say: callers that were sent away, files that cannot be
  /// used. Must not block.
  std::function<void(const std::string&)> on_warning = {};
  /// Told once, on any thread, when the task can serve no longer though it was not stopped: end the
  /// process, so that whoever watches it starts another.
  std::function<void(const status&)> on_failure = {};
  /// Told what the task does (docs/operating.md).
  log_hook on_log = {};
  /// Told when an operator wants the task to end (`troupe drain`), unless it drains already, on a
  /// thread of the task that it must not block: call task::drain, then end the process. Meanwhile
  /// the task takes nothing new.
  std::function<void()> on_drain = {};
  /// "host:port" where operators ask over HTTP (docs/operating.md); port 0: any. Empty: nowhere.
  /// Only on loopback, unless `http_anywhere` or `insecure` allows more: all who reach it see names
  /// of nodes, files and peers, and can change nothing.
  std::string http = {};
  bool http_anywhere = false;
  /// Where this task says so itself: where others reach it; empty: where it listens.
  std::string advertise = {};
  /// How long it waits for a number, and whether it still should: asked five times a second.
  std::chrono::milliseconds join_patience{300'000};
  std::function<bool()> give_up = {};
  hosting_limits hosting = {}; ///< of sessions of clients
  /// The task runs no step that uses what it holds before a session has filled it, and refuses them
  /// with `unavailable` for so long, then with `failed_precondition` (docs/recovery.md). None: what
  /// it holds is there from the beginning, and empty.
  std::optional<std::chrono::milliseconds> fill_before_serving = {};
  coordinator_options member_times = {}; ///< of the task that gives out numbers
  succession_options vote_times = {};    ///< of those that may take its place
};

/// Serves other tasks and clients until it is destroyed, which takes at most two seconds.
class task {
public:
  /// In a cluster that is joined it returns when the task has its number.
  static result<std::unique_ptr<task>> start(task_options options);
  virtual ~task() = default;
  virtual task_name self() const = 0;
  virtual uint16_t port() const noexcept = 0; ///< where it listens
  virtual uint64_t incarnation() const noexcept = 0;
  virtual uint16_t http_port() const noexcept = 0; ///< 0: none

  /// Refuses new steps and programs from now on, with `unavailable`, and says so at /readyz; waits
  /// until those that have begun have ended and their answers have left, at most so long. Returns
  /// what is left, which the task's end fails. Any thread may call.
  struct rest {
    size_t steps = 0;       ///< that have not ended
    size_t connections = 0; ///< that have something to send
    bool none() const noexcept { return steps == 0 && connections == 0; }
  };
  virtual rest drain(std::chrono::milliseconds patience) = 0;
};

} // namespace troupe
