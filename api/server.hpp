// Serves as one task of a cluster from within a program, as `troupe worker` does.
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
  std::string job = {}; ///< empty: what the environment says (docs/clusters.md), else "worker"
  /// Its number within the job; -1: any, in a cluster that is joined. None: what the environment
  /// says, else any where the cluster gives one, else 0.
  std::optional<int> task = {};
  std::string listen = {}; ///< "host:port" instead of the address in the cluster
  /// Of a cluster that is joined: where others reach this task; empty: where it listens.
  std::string advertise = {};
  std::chrono::milliseconds join_patience{300'000}; ///< how long it waits for a number
  thread_options threads = {};
  memory_options memory = detail::default_value<memory_options>();
  gpu_options gpu = {}; ///< `replay` and `place_by_cost` are the sessions'
  /// Certificates, and whether the task may do without; `between_tasks` is the sessions'.
  cluster_options cluster = detail::default_value<cluster_options>();
  /// File that says which client may do what (docs/security.md); empty: all may do all.
  std::string access = {};
  hosting_limits hosting = {}; ///< of sessions of clients whose master is in this task
  /// The task runs no step that uses what it holds before a session has filled it (session::fill),
  /// and refuses them with `unavailable` for so long, then with `failed_precondition`
  /// (docs/recovery.md). None: what it holds is there from the beginning, and empty.
  std::optional<std::chrono::milliseconds> fill_before_serving = {};
  bool deterministic = false; ///< the same bits for any number of threads, for all sessions
  /// "host:port" where /metrics, /healthz, /readyz and /v1/node/ are served; port 0: any. Empty:
  /// nowhere (docs/operating.md). Only on loopback, unless `http_anywhere` (or `cluster.insecure`)
  /// allows more: all who reach it see names of nodes, files and peers, and can change nothing.
  std::string http = {};
  bool http_anywhere = false;
  /// Told what the task does, on any thread; must not block.
  log_hook on_log = {};
  /// Told when an operator wants the task to end (`troupe drain`), unless it drains already, on a
  /// thread of the task that it must not block: call drain() on another, and let the server go.
  std::function<void()> on_drain = {};
  /// Told once, on any thread, when the task can serve no longer though it was not stopped.
  std::function<void(const status&)> on_failure = {};
};

/// One task of a cluster, until it is destroyed, which takes at most two seconds. Any thread may
/// call. Throws troupe::error where it cannot start. One that was moved away has no ports, and its
/// other functions throw failed_precondition.
class TROUPE_API server {
public:
  using location = std::source_location;

  /// `cluster` says where the tasks are, as session::connect() has it (docs/clusters.md). With
  /// "join:..." it returns when the task has its number.
  static server start(std::string_view cluster, const server_options& options = {},
                      location where = location::current());
  static server start(const cluster_spec& cluster, const server_options& options = {},
                      location where = location::current());

  server(server&&) noexcept;
  server& operator=(server&&) noexcept;
  ~server();

  task_name self() const;
  uint16_t port() const noexcept;      ///< where it listens
  uint16_t http_port() const noexcept; ///< 0: nowhere
  uint64_t incarnation() const noexcept;

  /// Takes nothing new from now on, with `unavailable`, and waits until what has begun has ended
  /// and its answers have left, at most so long. Returns how many steps are left, which the
  /// server's end fails. Throws for a negative patience.
  size_t drain(std::chrono::milliseconds patience, location where = location::current());

private:
  struct state;
  struct starter;
  explicit server(std::unique_ptr<state> made);
  std::unique_ptr<state> state_;
};

} // namespace troupe
