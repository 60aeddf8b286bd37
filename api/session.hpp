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

/// Gives an edge, usually a placeholder, its value for one step. Numbers and lists take the edge's
/// type.
struct feed {
  template <std::convertible_to<edge> E>
  feed(const E& to_edge, operand with) : to(static_cast<edge>(to_edge)), value(std::move(with)) {}

  edge to;
  operand value;
};

/// What to run without wanting a value.
struct target {
  target(node* what) : run(what) {}
  target(edge what) : run(what.node) {}

  node* run;
};

/// A kind of step, compiled once. Any number of threads may run it at once. May outlive its
/// session, but then only fails; so does a step that was moved away.
class TROUPE_API step {
public:
  using location = std::source_location;

  /// Runs it and returns the fetches in their order. The tensors are fed in the order in which the
  /// edges were given to prepare(). Throws troupe::error; its kind says what to do next.
  std::vector<tensor> run(std::span<const tensor> feeds, const run_options& options = {},
                          location where = location::current());
  std::vector<tensor> run(std::initializer_list<tensor> feeds = {}, const run_options& options = {},
                          location where = location::current()) {
    return run(std::span{feeds.begin(), feeds.size()}, options, where);
  }
  /// The same with feeds by the names of their edges, in any order: `{{"x", batch}, {"y",
  /// labels}}`. Fails for a name that was not given to prepare(), and for one that is missing.
  std::vector<tensor> run(const std::map<std::string, tensor>& feeds,
                          const run_options& options = {}, location where = location::current());
  /// The same, but moves the fetches to where the caller wants them, one for each fetch. Who keeps
  /// that place from run to run makes local steps free of heap allocations: see docs/memory.md.
  void run_into(std::span<const tensor> feeds, std::span<tensor> fetches,
                const run_options& options = {}, location where = location::current());

  /// Begins it and returns at once: for services that have no thread to spare. The future gets the
  /// fetches or throws troupe::error, within a moment of the deadline at the latest, also while
  /// other steps keep all threads.
  std::future<std::vector<tensor>> run_async(std::vector<tensor> feeds = {},
                                             const run_options& options = {},
                                             location where = location::current());
  /// The same with a callback, which is called once, on a thread of the runtime: it must neither
  /// block nor throw. A session that closes calls it with an error of the kind `cancelled`.
  using on_done = std::function<void(result<std::vector<tensor>>)>;
  void run_async(std::vector<tensor> feeds, on_done done, const run_options& options = {},
                 location where = location::current());

private:
  friend class session;
  struct state;
  class use;
  explicit step(std::shared_ptr<state> of) : state_(std::move(of)) {}
  std::shared_ptr<state> state_;
};

/// Holds variables and runs steps. Any thread may call it, several at once; the graphs that it runs
/// must not grow meanwhile. Closes in its destructor, which takes at most two seconds. One that was
/// moved away throws troupe::error, failed_precondition, whatever it is asked for.
class TROUPE_API session {
public:
  using location = std::source_location;

  /// Runs in this process, as the task /job:local/task:0.
  static session local(const session_options& options = {}, location where = location::current());

  /// Runs on the tasks of a cluster, which need not be up yet. `cluster` is JSON text such as
  /// {"worker": ["127.0.0.1:7001"]}, or the path of a file with such text, or what else says where
  /// tasks are (docs/clusters.md). With "master:127.0.0.1:7001,..." the session's master is in the
  /// first of these tasks that takes it, which is sent one message a step.
  static session connect(std::string_view cluster, const session_options& options = {},
                         location where = location::current());
  static session connect(const cluster_spec& cluster, const session_options& options = {},
                         location where = location::current());

  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  ~session();

  /// Runs what the fetches and targets need, and returns the fetches. The step is compiled at its
  /// first run and kept, as long as the graph does not change. Throws troupe::error with the line
  /// of the call: for a feed that is missing or has another type or shape than its placeholder, and
  /// for whatever fails in the step.
  std::vector<tensor> run(const std::vector<feed>& feeds, const std::vector<edge>& fetches,
                          const std::vector<target>& targets = {}, const run_options& options = {},
                          location where = location::current());

  /// Runs one node for its effect, such as an initializer. (A template, so that `{}` means no
  /// feeds.)
  template <std::same_as<node> Node>
  void run(Node* what, const std::vector<feed>& feeds = {}, const run_options& options = {},
           location where = location::current()) {
    run(feeds, {}, {what}, options, where);
  }

  /// Runs what one edge needs, and returns its value.
  tensor fetch(edge what, const std::vector<feed>& feeds = {}, const run_options& options = {},
               location where = location::current());

  /// Compiles a step for many runs, each of which then costs microseconds.
  step prepare(const std::vector<edge>& feeds, const std::vector<edge>& fetches,
               const std::vector<target>& targets = {}, location where = location::current()) {
    return prepare(feeds, fetches, targets, prepare_options{}, where);
  }
  step prepare(const std::vector<edge>& feeds, const std::vector<edge>& fetches,
               const std::vector<target>& targets, const prepare_options& options,
               location where = location::current());

  /// How long nodes took in the runs that session_options::insight.sample_every chose, together
  /// with what was known before. Steps that are prepared from then on go by it; write_node_times()
  /// keeps it.
  std::vector<node_time> node_times(location where = location::current()) const;

  /// How long tensors took from task to task in the same runs.
  std::vector<link_time> link_times(location where = location::current()) const;

  /// Where the nodes of such a step run and why, and what that is expected to cost, as prepare()
  /// decides it at the moment (docs/placement.md). Runs nothing.
  placement_report explain_placement(const std::vector<edge>& feeds,
                                     const std::vector<edge>& fetches,
                                     const std::vector<target>& targets = {},
                                     location where = location::current());

  /// All devices that steps may use, on all tasks. Asks all tasks at once, each once. Throws where
  /// a task cannot be asked, naming each of them.
  std::vector<device_info> devices(location where = location::current());
  /// The devices of the tasks that can be asked. `problems` gets the other tasks, each with the
  /// reason: a refused connection at once, a silent task after the session's timeout, or 10 s.
  std::vector<device_info> devices(std::vector<task_problem>& problems,
                                   location where = location::current());

  /// Where session_options::http is served; 0: nowhere.
  uint16_t http_port() const noexcept;

  /// The tasks that steps may use now, in order: "/job:worker/task:0". Where tasks come and go,
  /// those that the cluster has, as far as the session knows; one of them may be unreachable, as
  /// none is asked. Cheap enough to look now and then.
  std::vector<std::string> tasks(location where = location::current());

  /// What the containers of tasks hold: of the task "/job:ps/task:0", say, or of all. `left_out`
  /// counts what a task did not list because it has very much. Throws where one cannot be asked.
  state_list state_of(const std::string& task = {}, location where = location::current());
  /// The same of the tasks that can be asked. `problems` gets the others, as in devices().
  state_list state_of(const std::string& task, std::vector<task_problem>& problems,
                      location where = location::current());

  /// Where the streams of random numbers of this session's nodes stand, on the tasks that take part
  /// in its steps and can be reached (docs/training.md). Of any moment, where steps run. One that
  /// does not answer is waited for, for two seconds: name those that matter ("/job:ps/task:0").
  std::vector<task_positions> positions(location where = location::current()) {
    return positions({}, where);
  }
  std::vector<task_positions> positions(const std::vector<std::string>& tasks,
                                        location where = location::current());
  /// Has them go on from there, on whichever task their nodes run, also those that have not run
  /// yet. Steps that run meanwhile draw some numbers or others. Throws, naming the node, for a
  /// position that is none.
  void go_on_from(const kernel_positions& positions, location where = location::current());

  /// Calls `act`, whose runs on this thread fill tasks that serve nothing before that is done
  /// (`troupe worker --fill-before-serving`): they restore or initialise what such tasks hold. When
  /// it returns, the tasks on which these runs used state serve all, unless another thread of the
  /// session fills them as well: then when the last has ended. Where it throws, or this session
  /// goes, another may fill them. What `act` runs asynchronously fills nothing; a fill() within
  /// another of the session is part of that. Throws what `act` throws, an error as
  /// filled_elsewhere where another session fills a task; `unavailable` where a task cannot be told
  /// the end; and `aborted` where one was restarted meanwhile, or a session that a task hosts went
  /// to the next host: then it is to be filled anew. Elsewhere it only calls `act`.
  void fill(const std::function<void(session&)>& act, location where = location::current());
  /// Within fill(): whether one of the tasks on which its runs have used state so far waits to be
  /// filled. Where none does, another has filled them.
  bool is_filling() const noexcept; ///< false where it was moved away

  /// Clears the variables, tables and queues of a container; by default those of the session's own.
  /// Steps from before and after share what they name. What is declared with another type or shape
  /// from then on takes the place of the old; steps that were prepared with the old fail (aborted).
  void reset(location where = location::current());
  void reset(const std::string& container, location where = location::current());

private:
  friend class step;
  struct state; // goes with the session, or with the last run in it if that takes longer
  struct shared_state;
  explicit session(std::unique_ptr<state> made);
  explicit session(std::shared_ptr<shared_state> of);
  template <class Run>
  static auto recovering(const std::shared_ptr<shared_state>& in, bool has_effects,
                         std::chrono::steady_clock::time_point until, const std::stop_token& stop,
                         const Run& run) -> decltype(run());
  void close() noexcept;
  state& open(const char* function, const location& where) const; // throws where it was moved away
  std::shared_ptr<shared_state> shared_;                          // with the steps
};

/// The only element of a tensor. Throws when it has another type or another number of elements, or
/// lies elsewhere than in the host's memory.
template <class T>
T to_scalar(const tensor& from, std::source_location where = std::source_location::current()) {
  if (from.type() != dtype_of<T> || from.elements() != 1 || !from.on_host())
    throw error{invalid("to_scalar (", to_string(where), "): expected one ", dtype_of<T>, ", got ",
                        from.type(), from.dims())};
  return from.data<T>()[0];
}

} // namespace troupe
