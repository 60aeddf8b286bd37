// Runs one task of a cluster inside a program, like `troupe worker`.
#pragma once
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/api/session_options.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/log_event.hpp"
#include "troupe/serialization/config/cluster.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>

namespace troupe {

struct server_options {
  std::string job = {}; ///< empty: from the environment (docs/clusters.md), else "worker"
  /// Index within the job. -1: any index, in a cluster that is joined. None: from the environment,
  /// else any index if the cluster assigns one, else 0.
  std::optional<int> task = {};
  std::string listen = {}; ///< "host:port" instead of the address in the cluster
  /// In a cluster that is joined: the address by which others reach this task. Empty: the address
  /// on which it listens.
  std::string advertise = {};
  std::chrono::milliseconds join_timeout{300'000}; ///< timeout for getting an index when joining
  thread_options threads = {};
  memory_options memory = detail::default_value<memory_options>();
  gpu_options gpu = {}; ///< `replay` and `place_by_cost` are options of sessions
  /// Certificates, and whether the task may run without them. `transfer_precision` is an option of
  /// sessions.
  cluster_options cluster = detail::default_value<cluster_options>();
  /// File with the rights of each client (docs/security.md). Empty: all clients have all rights.
  std::string access = {};
  hosting_limits hosting = {}; ///< of sessions of clients whose master is in this task
  /// The task runs no step that uses its state before a session has initialized it
  /// (session::initialize_tasks). During this time it refuses such steps with `unavailable`, later
  /// with `failed_precondition` (docs/recovery.md). None: the task serves its state, which is
  /// empty, from the start.
  std::optional<std::chrono::milliseconds> initialize_before_serving = {};
  bool deterministic = false; ///< the same bits for any number of threads, for all sessions
  /// "host:port" of the HTTP server with /metrics, /healthz, /readyz and /v1/node/; port 0: any.
  /// Empty: no server (docs/operating.md). Loopback only, unless `http_allow_remote` (or
  /// `cluster.insecure`) allows more: clients see names of nodes, files and peers, and cannot
  /// change anything.
  std::string http = {};
  bool http_allow_remote = false;
  /// Called with events of the task, on any thread. Must not block.
  log_hook on_log = {};
  /// Called when an operator wants the task to end (`troupe drain`), unless it is already draining.
  /// Runs on a thread of the task and must not block it: call drain() on another thread, then
  /// destroy the server.
  std::function<void()> on_drain = {};
  /// Called once, on any thread, when the task can no longer serve although it was not stopped.
  std::function<void(const status&)> on_failure = {};
};

/// One task of a cluster. The destructor stops it, in at most two seconds. Thread-safe. Throws
/// troupe::error if it cannot start. A moved-from server has no ports, and its other functions
/// throw failed_precondition.
class TROUPE_API server {
public:
  using location = std::source_location;

  /// `cluster` names the tasks, as for session::connect() (docs/clusters.md). With "join:..." the
  /// call returns when the task has its index.
  static server start(std::string_view cluster, const server_options& options = {},
                      location where = location::current());
  static server start(const cluster_spec& cluster, const server_options& options = {},
                      location where = location::current());

  server(server&&) noexcept;
  server& operator=(server&&) noexcept;
  ~server();

  task_name self() const;
  uint16_t port() const noexcept;      ///< on which it listens
  uint16_t http_port() const noexcept; ///< 0: no HTTP server
  uint64_t incarnation() const noexcept;

  /// Refuses new work from now on, with `unavailable`. Waits until work in progress has ended and
  /// its answers have been sent, at most for `timeout`. Returns the number of steps that are left,
  /// which fail when the server ends. Throws for a negative timeout.
  size_t drain(std::chrono::milliseconds timeout, location where = location::current());

private:
  struct state;
  struct starter;
  explicit server(std::unique_ptr<state> initial_state);
  std::unique_ptr<state> state_;
};

} // namespace troupe
