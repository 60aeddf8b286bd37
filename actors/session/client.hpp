// How a plain thread drives a session: the blocking face of the session, master and worker actors.
// Knows no CAF type, so that `api/` can stand on it.
#pragma once
#include "troupe/actors/base/step_errors.hpp"
#include "troupe/runtime/cluster/fill_stage.hpp"
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

/// Makes the devices of a task when it starts; given by the composition root.
using device_maker = std::function<result<std::vector<std::shared_ptr<device>>>()>;

/// How the steps of a session are compiled and run.
struct program_options {
  bool region_per_node = false; ///< for debugging: every node waits for messages of its own
  size_t max_concurrent = 0;    ///< steps of one kind; the others wait in line. 0: no limit
  bool deterministic = false;   ///< the same bits for any number of threads
  bool replay = true;           ///< what is launched on a GPU again and again becomes one launch
  bool place_by_cost = false;   ///< placing::by_cost
  f32_transfer between_tasks = f32_transfer::exact;
  placement_options placement = {};
};

/// How a session has state restored that was lost with its task. None of it may throw.
struct restore_hooks {
  /// On a thread of the runtime, before any step uses the task again: it was restarted, and what it
  /// held for the session is gone. True: the step that found it fails, also where an error has told
  /// of the task before, and all others that use state there do until it is restored. Losses of a
  /// session that were taken so have numbers from 1 on.
  std::function<bool(const state_loss& what)> lose = {};
  /// Whether what the task held is still to be restored; any thread.
  std::function<bool(const std::string& task)> awaits = {};
  /// Whether what the calling thread asks for is part of restoring.
  std::function<bool()> restores_here = {};
  /// Whether the calling thread tries again what fails because of a task: no caller reads its
  /// error.
  std::function<bool()> tries_again = {};
  /// On a thread that runs a step, before that is told: the task has refused it, as it waits to be
  /// filled, and no session does that.
  std::function<void(const std::string& task)> unfilled = {};
};

/// A port that serves operators.
struct opened_port {
  uint16_t port = 0;
  std::shared_ptr<void> serving; ///< it is closed with the last copy
};

/// Opens the port at which operators ask about the task of a local session.
using port_opener =
    std::function<result<opened_port>(const address& at, const local_task_parts& of)>;

struct client_options {
  const registry* ops = nullptr;   ///< must outlive the client
  device_maker make_devices;       ///< of the local task; its processor computes while compiling
  pass_options passes = {};        ///< which changes are made to the graphs of steps
  size_t inter_op_threads = 0;     ///< that run kernels beside the calling thread; 0: one per core
  bool gpu_launch_threads = false; ///< each GPU of the local task has one
  std::string container;           ///< of variables that name none
  uint64_t session = 0;            ///< in the ids of its steps; 0: one that is drawn
  program_options programs = {};
  std::chrono::milliseconds timeout{60'000};      ///< of steps that name no deadline
  std::chrono::milliseconds peer_timeout{10'000}; ///< of silence, until a task counts as gone
  tls_files tls = {};      ///< all connections are over TLS; none: without encryption
  bool insecure = false;   ///< allows other machines without encryption
  bool near_memory = true; ///< large tensors are read out of the memory of tasks of this machine
  bool check_numerics = false;          ///< in all steps
  std::vector<node_time> measured = {}; ///< what former processes have found
  uint64_t sample_every = 0; ///< steps; the time of each node in one of them is measured. 0: never
  std::function<void(const std::string&)> on_warning = {};
  restore_hooks lost_state = {};
  /// Of the local task: "host:port" where operators ask over HTTP; empty: nowhere.
  std::string http = {};
  bool http_anywhere = false; ///< also beyond loopback
  port_opener open_port = {}; ///< of `http`; needed where that is given
};

/// What a run shall tell or watch for, beside giving its fetches.
struct run_insight {
  step_statistics* statistics =
      nullptr;                 ///< filled in before the run's end is told, also of a run that fails
  bool check_numerics = false; ///< fail at the first node that makes a NaN or an infinity
  std::stop_token stop = {};   ///< asked to, it ends with `cancelled` soon
};

/// A kind of step, compiled once by prepare() and run many times.
class prepared_step;

/// All functions may be called from any thread; prepare() reads the graph, which nobody may change
/// meanwhile. Errors that name no task come from this process.
class client {
public:
  /// Starts a task of its own in this process, "/job:local/task:0".
  static result<std::unique_ptr<client>> local(client_options options);

  /// Reaches the tasks of a cluster when they are needed; succeeds even if none is up yet.
  static result<std::unique_ptr<client>> connect(cluster_access cluster, client_options options);

  virtual ~client() = default;

  /// Fails with `cancelled` soon after `stop` is asked to.
  virtual result<std::shared_ptr<prepared_step>> prepare(const graph& of,
                                                         const step_signature& signature,
                                                         step_clock::time_point deadline,
                                                         const std::stop_token& stop = {}) = 0;

  /// Where its nodes would run and why, as prepare() would decide now; nothing is registered.
  virtual result<placement_report> explain(const graph& of, const step_signature& signature,
                                           step_clock::time_point deadline) = 0;

  /// Runs one step and returns its fetches in the signature's order. `feeds` are in its order as
  /// well. The calling thread takes part in the work of a local step. Fails with deadline_exceeded
  /// when the time is over; the step then has stopped, or is being stopped, and has no effect any
  /// more.
  virtual result<std::vector<tensor>> run(prepared_step& step, std::span<const tensor> feeds,
                                          step_clock::time_point deadline,
                                          const run_insight& insight = {}) = 0;

  /// The same, but moves the fetches to where the caller wants them. A local step that has run
  /// before then takes nothing from the heap but what its kernels do.
  virtual status run_into(prepared_step& step, std::span<const tensor> feeds,
                          std::span<tensor> fetches, step_clock::time_point deadline,
                          const run_insight& insight = {}) = 0;

  /// The same without a thread that waits: `done` gets what run() returns, once, on a thread of the
  /// runtime that it must not block; also when the client goes before the step has ended. It may
  /// let the client go. What it throws is a warning.
  using on_done = std::function<void(result<std::vector<tensor>>)>;
  virtual void run_async(prepared_step& step, std::vector<tensor> feeds,
                         step_clock::time_point deadline, on_done done,
                         const run_insight& insight = {}) = 0;

  /// Of all tasks, as far as they can be asked; a refused connection is a problem at once.
  virtual result<device_survey> devices(step_clock::time_point deadline) = 0;
  /// Those that steps may name, with names and kinds alone, without asking their tasks.
  virtual result<std::vector<device_info>> known_devices(step_clock::time_point deadline) = 0;

  /// Forgets the variables of a container on every task.
  virtual status reset(const std::string& container, step_clock::time_point deadline) = 0;

  /// While it lives, steps that this thread runs by the client, and waits for, fill tasks that wait
  /// for that. One within another is part of that.
  class filling {
  public:
    explicit filling(const client& by)
        : by_(by), around_(innermost_), whole_(of(by)), number_(++begun_) {
      innermost_ = this;
    }
    filling(const filling&) = delete;
    filling& operator=(const filling&) = delete;
    ~filling() { innermost_ = around_; }
    /// The outermost on this thread; null: none.
    static filling* of(const client& by) noexcept {
      filling* found = nullptr;
      for (auto* one = innermost_; one; one = one->around_)
        if (&one->by_ == &by)
          found = one;
      return found;
    }
    uint64_t number() const noexcept { return whole().number_; }
    bool is_outermost() const noexcept { return !whole_; }
    /// A task has said that to one of the steps.
    void hear(const task_fill& what) {
      if (what.stage == fill_stage::by_another)
        elsewhere_.insert(what.task);
      else
        elsewhere_.erase(what.task);
      fills_ |= what.stage == fill_stage::by_asker;
    }
    /// Tasks that another session fills, as they said last.
    const std::set<std::string>& elsewhere() const noexcept { return whole().elsewhere_; }
    /// Whether a task that waits to be filled has let one of the steps in.
    bool fills() const noexcept { return whole().fills_; }

  private:
    const filling& whole() const noexcept { return whole_ ? *whole_ : *this; }
    const client& by_;
    filling* const around_;
    filling* const whole_; // that it is part of
    const uint64_t number_;
    std::set<std::string> elsewhere_;
    bool fills_ = false;
    static inline std::atomic<uint64_t> begun_{0};
    static inline thread_local filling* innermost_ = nullptr;
  };
  /// Tells the tasks on which steps of that number used state that they are filled; or, where it is
  /// not `done`, that the next may do so. Fails with `aborted` where one was restarted meanwhile.
  virtual status end_fill(uint64_t number, bool done, step_clock::time_point deadline) = 0;

  /// Lists the named state of a task ("/job:ps/task:0"), or of all, as far as they can be asked.
  virtual result<state_survey> list_state(const std::string& task,
                                          step_clock::time_point deadline) = 0;

  /// Where stateful kernels stand on the tasks that take part in steps, of these where some are
  /// named; and where they shall stand, if that is given.
  virtual result<std::vector<task_positions>> positions(kernel_positions go_on_from,
                                                        const std::vector<std::string>& tasks,
                                                        step_clock::time_point deadline) = 0;

  const client_options& options() const noexcept { return options_; }
  /// Where client_options::http is served; 0: nowhere.
  virtual uint16_t http_port() const noexcept = 0;

  /// What steps that were sampled say of their nodes.
  const node_times& times() const noexcept { return *times_; }
  /// The same of what went from task to task.
  const link_times& links() const noexcept { return *links_; }

protected:
  explicit client(client_options options) : options_(std::move(options)) {
    for (const auto& one : options_.measured)
      times_->add(one);
  }

  const std::shared_ptr<node_times> times_ = std::make_shared<node_times>();
  const std::shared_ptr<link_times> links_ = std::make_shared<link_times>();

private:
  client_options options_;
};

} // namespace troupe
