// The interface by which a plain thread drives a session: it blocks on the session, master and
// worker actors. Names no CAF type, so that `api/` can use it.
#pragma once
#include "troupe/actors/base/step_errors.hpp"
#include "troupe/runtime/cluster/initialization_stage.hpp"
#include "troupe/runtime/cluster/state_loss.hpp"
#include "troupe/runtime/cluster/task_survey.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/device/device_info.hpp"
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/graph/registry.hpp"
#include "troupe/runtime/graph/step_signature.hpp"
#include "troupe/runtime/insight/link_times.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/passes/pass_options.hpp"
#include "troupe/runtime/placement/placement_options.hpp"
#include "troupe/runtime/placement/placement_report.hpp"
#include "troupe/runtime/state/kernel_positions.hpp"
#include "troupe/runtime/state/state_info.hpp"
#include "troupe/serialization/tls/tls_files.hpp"

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace troupe {

struct address;          // actors/network/dial.hpp
struct cluster_access;   // serialization/discovery/address_source.hpp
struct local_task_parts; // actors/session/session.hpp

/// Makes the devices of a task when it starts; passed by the composition root.
using device_maker = std::function<result<std::vector<std::shared_ptr<device>>>()>;

/// How the steps of a session are compiled and run.
struct program_options {
  bool region_per_node = false; ///< for debugging: each node waits for messages of its own
  /// Running steps of one kind; further ones are queued. 0: no limit.
  size_t max_concurrent_steps = 0;
  bool deterministic = false; ///< results have the same bits for any number of threads
  bool replay = true;         ///< repeated launch sequences on a GPU are replayed as one launch
  bool place_by_cost = false; ///< place_options::by_cost
  f32_transfer transfer_precision = f32_transfer::exact;
  placement_options placement = {};
};

/// How a session restores state that was lost with its task. No hook may throw.
struct restore_hooks {
  /// Called on a runtime thread when a task was restarted and the session's state there is gone,
  /// before a step uses the task again. If it returns true, the step that found the loss fails,
  /// even if an error has reported the task before. All other steps that use state on the task fail
  /// until the state is restored. Losses for which it returned true are numbered from 1.
  std::function<bool(const state_loss& loss)> on_state_lost = {};
  /// Returns whether the lost state of the task is not restored yet. Any thread.
  std::function<bool(const std::string& task)> awaits_restore = {};
  /// Returns whether requests of the calling thread are part of restoring state.
  std::function<bool()> is_restoring = {};
  /// Returns whether the calling thread retries a request that fails because of a task, so that no
  /// caller reads the error.
  std::function<bool()> is_retrying = {};
  /// Called on the thread that runs a step, before the step returns: the task has refused the step,
  /// because it must be initialized first and no session is initializing it.
  std::function<void(const std::string& task)> on_uninitialized = {};
};

/// An HTTP port for operators.
struct opened_port {
  uint16_t port = 0;
  std::shared_ptr<void> server; ///< the last copy closes the port
};

/// Opens the HTTP port for operators of the task of a local session.
using port_opener =
    std::function<result<opened_port>(const address& listen_address, const local_task_parts& task)>;

struct client_options {
  const registry* ops = nullptr;   ///< must outlive the client
  device_maker make_devices;       ///< of the local task; its CPU device folds constants
  pass_options passes = {};        ///< which passes change the graphs of steps
  size_t inter_op_threads = 0;     ///< that run kernels beside the calling thread; 0: one per core
  bool gpu_launch_threads = false; ///< each GPU of the local task has a launch thread
  std::string container;           ///< of variables that name no container
  uint64_t session = 0;            ///< identifies the session in the ids of its steps; 0: random
  program_options programs = {};
  std::chrono::milliseconds timeout{60'000};      ///< of steps that name no deadline
  std::chrono::milliseconds peer_timeout{10'000}; ///< a task that is silent for longer is lost
  tls_files tls = {};                             ///< all connections use TLS; none: no encryption
  bool insecure = false; ///< allows unencrypted connections to other machines
  /// Large tensors of tasks of this machine are read from their memory.
  bool same_host_reads = true;
  bool share_io = true;                   ///< as in membership_options
  bool check_numerics = false;            ///< in all steps
  std::vector<node_time> node_times = {}; ///< times of nodes that former processes measured
  uint64_t sample_every = 0;              ///< n: measures the nodes of every nth step; 0: of none
  std::function<void(const std::string&)> on_warning = {};
  restore_hooks lost_state = {};
  /// "host:port" at which the local task serves operators over HTTP; empty: not served.
  std::string http = {};
  bool http_allow_remote = false; ///< `http` may be reachable from other machines
  port_opener open_port = {};     ///< opens the port of `http`; required where `http` is set
};

/// Options of a run: statistics, checks and a stop request.
struct run_insight {
  step_statistics* statistics = nullptr; ///< filled in before the run returns, also where it fails
  bool check_numerics = false; ///< fail at the first node that produces a NaN or an infinity
  std::stop_token stop = {};   ///< after a stop request the run soon ends with `cancelled`
};

/// A kind of step, compiled once by prepare() and run many times.
class prepared_step;

/// Any thread may call any function. The graph that prepare() reads must not change during the
/// call. Errors that name no task come from this process.
class client {
public:
  /// Starts a session with a task of its own in this process, "/job:local/task:0".
  static result<std::unique_ptr<client>> local(client_options options);

  /// Creates a session that connects to the tasks of a cluster when a step needs them. Succeeds
  /// even if no task is running yet.
  static result<std::unique_ptr<client>> connect(cluster_access cluster, client_options options);

  virtual ~client() = default;

  /// Compiles a kind of step of `source`. Fails with `cancelled` soon after a stop request.
  virtual result<std::shared_ptr<prepared_step>> prepare(const graph& source,
                                                         const step_signature& signature,
                                                         step_clock::time_point deadline,
                                                         const std::stop_token& stop = {}) = 0;

  /// Reports where prepare() would place the nodes, and why. Registers nothing.
  virtual result<placement_report> explain(const graph& source, const step_signature& signature,
                                           step_clock::time_point deadline) = 0;

  /// Runs one step and returns its fetches. Fetches and `feeds` are in the signature's order. The
  /// calling thread takes part in the work of a local step. Fails with deadline_exceeded at the
  /// deadline; by then the step has stopped or is stopping, and has no further effect.
  virtual result<std::vector<tensor>> run(prepared_step& step, std::span<const tensor> feeds,
                                          step_clock::time_point deadline,
                                          const run_insight& insight = {}) = 0;

  /// Like run(), but moves the fetches into `fetches`. A local step that has run before allocates
  /// no heap memory beyond what its kernels allocate.
  virtual status run_into(prepared_step& step, std::span<const tensor> feeds,
                          std::span<tensor> fetches, step_clock::time_point deadline,
                          const run_insight& insight = {}) = 0;

  /// Like run(), but returns without waiting. `done` is called once with the result, on a runtime
  /// thread that it must not block, even if the client is destroyed before the step ends. `done`
  /// may destroy the client. An exception that it throws is reported as a warning.
  using on_done = std::function<void(result<std::vector<tensor>>)>;
  virtual void run_async(prepared_step& step, std::vector<tensor> feeds,
                         step_clock::time_point deadline, on_done done,
                         const run_insight& insight = {}) = 0;

  /// Lists the devices of all reachable tasks. A refused connection is reported as a problem
  /// without a retry.
  virtual result<device_survey> devices(step_clock::time_point deadline) = 0;
  /// Lists the devices that steps may name, with names and kinds only, without asking their tasks.
  virtual result<std::vector<device_info>> known_devices(step_clock::time_point deadline) = 0;

  /// Forgets the variables of a container on every task.
  virtual status reset(const std::string& container, step_clock::time_point deadline) = 0;

  /// While an object of this class lives, steps that this thread runs by the client, and waits for,
  /// initialize tasks that must be initialized before they serve. A nested object is part of the
  /// outermost one.
  class initialization {
  public:
    explicit initialization(const client& owner)
        : client_(owner), enclosing_(innermost_), outermost_(outermost_of(owner)),
          number_(++begun_) {
      innermost_ = this;
    }
    initialization(const initialization&) = delete;
    initialization& operator=(const initialization&) = delete;
    ~initialization() { innermost_ = enclosing_; }
    /// Returns the outermost object of this thread for the client; null if there is none.
    static initialization* outermost_of(const client& owner) noexcept {
      initialization* result = nullptr;
      for (auto* current = innermost_; current; current = current->enclosing_)
        if (&current->client_ == &owner)
          result = current;
      return result;
    }
    uint64_t number() const noexcept { return outermost().number_; }
    bool is_outermost() const noexcept { return !outermost_; }
    /// Records how a task answered a step of this initialization.
    void note_report(const initialization_report& report) {
      if (report.stage == initialization_stage::by_another)
        tasks_of_others_.insert(report.task);
      else
        tasks_of_others_.erase(report.task);
      has_begun_ |= report.stage == initialization_stage::by_requester;
    }
    /// Returns the tasks that another session initializes, by their last reports.
    const std::set<std::string>& tasks_of_others() const noexcept {
      return outermost().tasks_of_others_;
    }
    /// Returns whether an uninitialized task has admitted one of the steps.
    bool has_begun() const noexcept { return outermost().has_begun_; }

  private:
    const initialization& outermost() const noexcept { return outermost_ ? *outermost_ : *this; }
    const client& client_;
    initialization* const enclosing_;
    initialization* const outermost_; // null in the outermost one
    const uint64_t number_;
    std::set<std::string> tasks_of_others_;
    bool has_begun_ = false;
    static inline std::atomic<uint64_t> begun_{0};
    static inline thread_local initialization* innermost_ = nullptr;
  };
  /// Ends the initialization of that number on each task on which its steps used state. With
  /// `done`, these tasks are initialized from now on; else another session may initialize them.
  /// Fails with `aborted` if a task was restarted meanwhile.
  virtual status end_initialization(uint64_t number, bool done,
                                    step_clock::time_point deadline) = 0;

  /// Lists the named state of a task ("/job:ps/task:0"), or of all reachable tasks if it is empty.
  virtual result<state_survey> list_state(const std::string& task,
                                          step_clock::time_point deadline) = 0;

  /// Returns the positions of stateful kernels (random state) on the tasks that take part in steps,
  /// or on `tasks` if any are named. If `restored_state` is not empty, sets these positions first.
  virtual result<std::vector<task_positions>> random_state(kernel_positions restored_state,
                                                           const std::vector<std::string>& tasks,
                                                           step_clock::time_point deadline) = 0;

  const client_options& options() const noexcept { return options_; }
  /// Returns the port of client_options::http; 0 if it is not served.
  virtual uint16_t http_port() const noexcept = 0;

  /// Returns the times of nodes in sampled steps.
  const node_times& times() const noexcept { return *times_; }
  /// Returns the times of transfers between tasks in sampled steps.
  const link_times& links() const noexcept { return *links_; }

protected:
  explicit client(client_options options) : options_(std::move(options)) {
    for (const auto& measured : options_.node_times)
      times_->add(measured);
  }

  const std::shared_ptr<node_times> times_ = std::make_shared<node_times>();
  const std::shared_ptr<link_times> links_ = std::make_shared<link_times>();

private:
  client_options options_;
};

} // namespace troupe
