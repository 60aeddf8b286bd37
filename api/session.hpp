// Sessions run graphs: in this process, or on the tasks of a cluster.
#pragma once
#include "troupe/api/error.hpp"
#include "troupe/api/operand.hpp"
#include "troupe/api/session_options.hpp"
#include "troupe/runtime/cluster/task_survey.hpp"
#include "troupe/runtime/device/device_info.hpp"
#include "troupe/runtime/export.hpp"
#include "troupe/runtime/insight/link_times.hpp"
#include "troupe/runtime/placement/placement_report.hpp"
#include "troupe/runtime/state/kernel_positions.hpp"
#include "troupe/runtime/state/state_info.hpp"
#include "troupe/serialization/config/cluster.hpp"

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <vector>

namespace troupe {

/// Feeds an edge, usually a placeholder, for one step. Numbers and lists take the edge's type.
struct feed {
  template <std::convertible_to<edge> E>
  feed(const E& to_edge, operand fed_value)
      : fed_edge(static_cast<edge>(to_edge)), value(std::move(fed_value)) {}

  edge fed_edge;
  operand value;
};

/// A node to run for its effect, whose value is not fetched.
struct target {
  target(troupe::node* target_node) : node(target_node) {}
  target(edge output) : node(output.node) {}

  troupe::node* node;
};

/// A prepared step, compiled once. Thread-safe: several threads may run it at the same time. It may
/// outlive its session, but then every run fails; so does a moved-from step.
class TROUPE_API step {
public:
  using location = std::source_location;

  /// Runs the step and returns the fetches in their order. The tensors are fed in the order of the
  /// edges that were given to prepare(). Throws troupe::error, whose kind tells how to react.
  std::vector<tensor> run(std::span<const tensor> feeds, const run_options& options = {},
                          location where = location::current());
  std::vector<tensor> run(std::initializer_list<tensor> feeds = {}, const run_options& options = {},
                          location where = location::current()) {
    return run(std::span{feeds.begin(), feeds.size()}, options, where);
  }
  /// Runs with feeds by the names of their edges, in any order: `{{"x", batch}, {"y", labels}}`.
  /// Fails for a name that was not given to prepare(), and for a missing one.
  std::vector<tensor> run(const std::map<std::string, tensor>& feeds,
                          const run_options& options = {}, location where = location::current());
  /// Runs, and moves the fetches into the caller's tensors, one for each fetch. A caller that
  /// reuses these tensors makes local steps free of heap allocations: see docs/memory.md.
  void run_into(std::span<const tensor> feeds, std::span<tensor> fetches,
                const run_options& options = {}, location where = location::current());

  /// Starts a run and returns immediately: for services that must not block a thread. The future
  /// gets the fetches or throws troupe::error, at the latest shortly after the deadline, even if
  /// other steps occupy all threads.
  std::future<std::vector<tensor>> run_async(std::vector<tensor> feeds = {},
                                             const run_options& options = {},
                                             location where = location::current());
  /// Starts a run with a callback, which is called once, on a thread of the runtime: it must
  /// neither block nor throw. A session that closes calls it with an error of the kind `cancelled`.
  using on_done = std::function<void(result<std::vector<tensor>>)>;
  void run_async(std::vector<tensor> feeds, on_done done, const run_options& options = {},
                 location where = location::current());

private:
  friend class session;
  struct state;
  class use;
  explicit step(std::shared_ptr<state> initial_state) : state_(std::move(initial_state)) {}
  std::shared_ptr<state> state_;
};

/// Holds variables and runs steps. Thread-safe, but the graphs that it runs must not grow during a
/// run. The destructor closes it, in at most two seconds. Each function of a moved-from session
/// throws troupe::error, failed_precondition.
class TROUPE_API session {
public:
  using location = std::source_location;

  /// Runs in this process, as the task /job:local/task:0.
  static session local(const session_options& options = {}, location where = location::current());

  /// Runs on the tasks of a cluster, which need not be up yet. `cluster` is JSON text such as
  /// {"worker": ["127.0.0.1:7001"]}, or the path of a file with such text, or another description
  /// of the tasks (docs/clusters.md). With "master:127.0.0.1:7001,..." the session's master runs in
  /// the first of these tasks that accepts it, and the client sends it one message for each step.
  static session connect(std::string_view cluster, const session_options& options = {},
                         location where = location::current());
  static session connect(const cluster_spec& cluster, const session_options& options = {},
                         location where = location::current());

  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  ~session();

  /// Runs the nodes that the fetches and targets need, and returns the fetches. The step is
  /// compiled at its first run and cached until the graph changes. Throws troupe::error with the
  /// line of the call: for a feed that is missing or has another type or shape than its
  /// placeholder, and for any failure in the step.
  std::vector<tensor> run(const std::vector<feed>& feeds, const std::vector<edge>& fetches,
                          const std::vector<target>& targets = {}, const run_options& options = {},
                          location where = location::current());

  /// Runs one node for its effect, such as an initializer. (A template, so that `{}` means no
  /// feeds.)
  template <std::same_as<node> Node>
  void run(Node* target_node, const std::vector<feed>& feeds = {}, const run_options& options = {},
           location where = location::current()) {
    run(feeds, {}, {target_node}, options, where);
  }

  /// Runs the nodes that one edge needs, and returns its value.
  tensor fetch(edge output, const std::vector<feed>& feeds = {}, const run_options& options = {},
               location where = location::current());

  /// Compiles a step for many runs, each of which then costs microseconds.
  step prepare(const std::vector<edge>& feeds, const std::vector<edge>& fetches,
               const std::vector<target>& targets = {}, location where = location::current()) {
    return prepare(feeds, fetches, targets, prepare_options{}, where);
  }
  step prepare(const std::vector<edge>& feeds, const std::vector<edge>& fetches,
               const std::vector<target>& targets, const prepare_options& options,
               location where = location::current());

  /// Returns the measured durations of nodes: of the runs that
  /// session_options::insight.sample_every selected, together with the initial ones. Steps that are
  /// prepared later use them. write_node_times() saves them.
  std::vector<node_time> node_times(location where = location::current()) const;

  /// Returns the transfer times of tensors between tasks, in the same runs.
  std::vector<link_time> link_times(location where = location::current()) const;

  /// Explains the placement that prepare() would choose now for such a step: the devices of nodes,
  /// the reasons, and the expected cost (docs/placement.md). Runs nothing.
  placement_report explain_placement(const std::vector<edge>& feeds,
                                     const std::vector<edge>& fetches,
                                     const std::vector<target>& targets = {},
                                     location where = location::current());

  /// Returns all devices that steps may use, on all tasks. Queries all tasks concurrently. Throws
  /// if a task cannot be queried, naming each such task.
  std::vector<device_info> devices(location where = location::current());
  /// Returns the devices of the tasks that can be queried. `problems` gets the other tasks, each
  /// with the reason. A refused connection is reported immediately, a silent task after the
  /// session's timeout, or 10 s.
  std::vector<device_info> devices(std::vector<task_problem>& problems,
                                   location where = location::current());

  /// Returns the port of the server of session_options::http; 0: no server.
  uint16_t http_port() const noexcept;

  /// Returns the tasks that steps may use now, in order: "/job:worker/task:0". In a cluster with
  /// changing members, these are the members that the session knows. No task is queried, so some
  /// may be unreachable. Cheap enough to poll.
  std::vector<std::string> tasks(location where = location::current());

  /// Lists the contents of the containers of a task such as "/job:ps/task:0", or of all tasks.
  /// `omitted_entries` counts what a task did not list because its list is too long. Throws if a
  /// task cannot be queried.
  state_list state_of(const std::string& task = {}, location where = location::current());
  /// Lists the same for the tasks that can be queried. `problems` gets the others, as in devices().
  state_list state_of(const std::string& task, std::vector<task_problem>& problems,
                      location where = location::current());

  /// Returns the positions of the random number streams of this session's nodes, on the tasks that
  /// take part in its steps and can be reached (docs/training/models.md). If steps run meanwhile,
  /// the positions are of no particular moment. A task that does not answer delays the call by two
  /// seconds: name the tasks that matter ("/job:ps/task:0").
  std::vector<task_positions> random_state(location where = location::current()) {
    return random_state({}, where);
  }
  std::vector<task_positions> random_state(const std::vector<std::string>& tasks,
                                           location where = location::current());
  /// Sets the positions of the random number streams, on all tasks, also for nodes that have not
  /// run yet. Steps that run meanwhile may draw numbers from before or after. Throws, naming the
  /// node, for an invalid position.
  void restore_random_state(const kernel_positions& positions,
                            location where = location::current());

  /// Calls `act`, whose runs on this thread initialize tasks that serve no state before (`troupe
  /// worker --initialize-before-serving`): they restore or initialize the variables of such tasks.
  ///
  /// - When `act` returns, the tasks whose state these runs used serve all steps. If another thread
  /// of the session initializes them as well, they serve when the last thread has finished.
  /// - If `act` throws, or the session is destroyed, another session may initialize them.
  /// - Asynchronous runs of `act` initialize nothing. A nested initialize_tasks() of the same
  /// session is part of the outer one.
  /// - For tasks that need no initialization, the call only calls `act`.
  ///
  /// Throws what `act` throws; initialized_by_other_client if another session initializes a task;
  /// `unavailable` if a task cannot be notified of the end; and `aborted` if a task was restarted
  /// meanwhile, or a hosted session moved to its next host: the task must then be initialized
  /// again.
  void initialize_tasks(const std::function<void(session&)>& act,
                        location where = location::current());
  /// Within initialize_tasks(): returns true if one of the tasks whose state its runs have used so
  /// far waits to be initialized. False: another session has initialized them.
  bool is_initializing() const noexcept; ///< false for a moved-from session

  /// Clears the variables, tables and queues of a container; by default of the session's own. Steps
  /// prepared before and after share state by name. A later declaration with another type or shape
  /// replaces the old one; steps that were prepared with the old one fail (aborted).
  void reset(location where = location::current());
  void reset(const std::string& container, location where = location::current());

private:
  friend class step;
  struct state; // destroyed with the session, or after the last run in it if that ends later
  struct shared_state;
  explicit session(std::unique_ptr<state> initial_state);
  explicit session(std::shared_ptr<shared_state> initial_state);
  template <class Run>
  static auto recovering(const std::shared_ptr<shared_state>& in, bool has_effects,
                         std::chrono::steady_clock::time_point until, const std::stop_token& stop,
                         const Run& run) -> decltype(run());
  void close() noexcept;
  state& open(const char* function, const location& where) const; // throws if it was moved from
  std::shared_ptr<shared_state> shared_;                          // shared with the steps
};

/// Returns the only element of a tensor. Throws if the tensor has another type or another number of
/// elements, or is not in the host's memory.
template <class T>
T to_scalar(const tensor& from, std::source_location where = std::source_location::current()) {
  if (from.type() != dtype_of<T> || from.elements() != 1 || !from.on_host())
    throw error{invalid("to_scalar (", to_string(where), "): expected one ", dtype_of<T>, ", got ",
                        from.type(), from.dims())};
  return from.data<T>()[0];
}

} // namespace troupe
