// How a session runs its steps, and what a run is told beside its feeds and fetches.
#pragma once
#include "troupe/devices/cpu/swap_space_options.hpp"
#include "troupe/runtime/graph/f32_transfer.hpp"
#include "troupe/runtime/insight/node_times.hpp"
#include "troupe/runtime/passes/pass_options.hpp"
#include "troupe/runtime/placement/placement_options.hpp"
#include "troupe/runtime/types/default_value.hpp"
#include "troupe/runtime/types/status.hpp"
#include "troupe/serialization/tls/tls_files.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace troupe {

class session; // session.hpp

struct thread_options {
  int intra_op = 0;    ///< that one op may use; 0: one per core. Of local sessions
  size_t inter_op = 0; ///< that run ops side by side, and nothing else; 0: one per core
};

/// Bytes. Of local sessions; tasks of a cluster have options of their own (`troupe worker`).
struct memory_options {
  size_t limit = 0; ///< of what ops make on the processor; 0: none
  swap_space_options swap_space =
      detail::default_value<swap_space_options>(); ///< of files for what loops with swap_memory
                                                   ///< keep
  size_t gpu_limit = 0;   ///< of each GPU device; 0: a share of nine tenths
  size_t gpu_reserve = 0; ///< of each GPU device, taken at once; 0: as they are needed
  /// Without a new tensor, until a GPU gives back what it keeps for the next ones; 0: never.
  std::chrono::milliseconds gpu_idle{0};
};

/// The sessions of a process share its GPUs, with the options of whoever came first.
struct gpu_options {
  /// The first so many GPUs, or the session is not made; -1: all that there are. Of local sessions.
  int count = 0;
  int devices_each = 1; ///< several share a GPU, to try what needs more. Of local sessions
  bool tf32 = false;    ///< products of f32 may round their operands to 10 bits. Of local sessions
  /// Tries the algorithms for a convolution when it first comes, and keeps the fastest; false: what
  /// cuDNN advises. The same with cuDNN and our kernels for other layers; false: our kernels.
  /// Deterministic sessions take the advice, and our kernels. Of local sessions.
  bool measure_convolutions = true;
  /// Launches what is repeated as one (docs/gpu.md); false: kernel by kernel, for debugging, or for
  /// exchanges of gradients that overlap (docs/training.md).
  bool replay = true;
  /// A thread of each GPU's own launches its kernels, not whichever brings the work, which then
  /// goes on; costs a wake-up. Of local sessions.
  bool launch_threads = false;
  /// Nodes that name no device run on a GPU, or on the processor of its task, whichever is expected
  /// to take less time with all copies; false: on the GPU if that has a kernel.
  bool place_by_cost = true;
};

struct insight_options {
  bool check_numerics = false; ///< as in run_options, for all runs
  uint64_t sample_every = 0;   ///< measures one run in so many for node_times(); 0: none
  /// What nodes cost, as far as it is known from before (read_node_times); else it is estimated
  /// from shapes until runs are measured. Decides which branches of a graph run in parallel.
  std::vector<node_time> node_times = {};
  bool region_per_node = false; ///< for debugging: no node shares straight-line code with another
};

struct cluster_options {
  std::chrono::milliseconds peer_timeout{
      10'000}; ///< of silence, until a task counts as gone; up to a day
  /// Certificates of this program; connections are over TLS then (docs/security.md).
  tls_files tls = detail::default_value<tls_files>();
  bool insecure = false; ///< speaks to other machines without TLS
  /// Large tensors are read out of the memory of tasks of this machine, where that is allowed.
  bool near_memory = true;
  /// How f32 travels from a node of one task to one of another: with half of its bytes, for
  /// gradients and parameters that bear it.
  f32_transfer between_tasks = f32_transfer::exact;
};

/// A run that failed because of a task, and what the session does about it. For logs.
struct recovery_event {
  enum class kind : uint8_t {
    retrying,  ///< the run is tried again, after a wait
    restoring, ///< a task was restarted: recovery_options::restore is called
    restored,  ///< it has returned; steps run again
    given_up   ///< the run fails with the first error: that was the last retry, or it may not be
               ///< repeated
  };
  kind what = kind::retrying;
  std::string task = {};    ///< the one that failed first or was restarted, where that is known
  int retry = 0;            ///< counted from 1, for each run
  std::string text = {};    ///< all of it in a line, with the first cause
  uint64_t incarnation = 0; ///< of that task, where an error says it
};

/// What a session does when runs fail because of tasks that are lost (white paper 3.3).
struct recovery_options {
  int retries = 0; ///< of each run that fails with an error of `kinds`; 0: it fails at once
  std::chrono::milliseconds wait{100}; ///< before the first retry; doubled for each, up to 5 s
  std::vector<error_kind> kinds = {error_kind::unavailable, error_kind::aborted};
  /// Runs that change variables, queues or other state are repeated, too. What a failed attempt had
  /// done before it failed is then done twice.
  bool repeat_effects = false;
  /// Called before anything else runs in the session once a task has been restarted that held state
  /// for it: restores what was lost, such as by saver::restore. Its own runs are not retried; where
  /// it throws, that counts as the failure of the run that waits for it. Nothing: the run that
  /// finds the loss fails (aborted), and is not retried, unless an error that reached its caller
  /// has told of the task.
  std::function<void(session&)> restore = {};
  /// On the threads of runs, several at once; must not throw.
  std::function<void(const recovery_event&)> on_event = {};
};

struct session_options {
  thread_options threads = {};
  memory_options memory = detail::default_value<memory_options>();
  gpu_options gpu = {};
  pass_options passes = {}; ///< pass_options::none() runs graphs as they were written
  insight_options insight = detail::default_value<insight_options>();
  cluster_options cluster = detail::default_value<cluster_options>();
  placement_options placement = {}; ///< which device runs what (docs/placement.md)
  /// Of runs that wait for their end: not run_async().
  recovery_options recovery = detail::default_value<recovery_options>();
  std::string container = {};                ///< of variables that name none
  std::chrono::milliseconds timeout{60'000}; ///< of runs that name none; positive
  size_t max_concurrent_steps = 0; ///< of each prepared step; the others wait in line. 0: no limit
  bool deterministic = false;      ///< the same bits for any number of threads (docs/insight.md)
  /// "host:port" where a local session serves /metrics, /healthz, /readyz and /v1/node/, as tasks
  /// do (docs/operating.md); port 0: any, which session::http_port() tells. Empty: nowhere. Only on
  /// loopback, unless `http_anywhere` allows more: all who reach it see names of nodes and files,
  /// and can change nothing.
  std::string http = {};
  bool http_anywhere = false;
  /// Told, on a thread of the runtime, what works otherwise than somebody may expect: a node that
  /// runs on a processor though it names a GPU. Must not block. Nothing: such things pass in
  /// silence.
  std::function<void(const std::string&)> on_warning = {};
};

/// For session::prepare().
struct prepare_options {
  /// Its heavy work on processors runs on threads of a lower priority than those of other steps:
  /// for steps that prepare what others read. Runners of queues (queue_runner) do that.
  bool low_priority = false;
};

struct run_options {
  std::chrono::milliseconds timeout{0}; ///< 0: the session's; a negative one is an error
  /// Counts instead when given. It bounds when a run that has not ended fails, with
  /// `deadline_exceeded`: some 50 ms later at the latest, but for kernels that never ask whether to
  /// leave off. Where it has passed before the run begins, nothing of that runs.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Filled in with what ran when, where and how long, also when the run fails; write_trace() makes
  /// a picture of it. Must live as long as the run.
  step_statistics* statistics = nullptr;
  /// Fails at the first node that makes a NaN or an infinity, and tells its inputs. On processors.
  bool check_numerics = false;
  /// Asked to stop, from any thread, the run fails with `cancelled`, also one that waits for tasks,
  /// for its turn or to be retried: at once in this process, where kernels leave off, and within
  /// two seconds where tasks take part. What it took out of queues goes back; what it has changed
  /// stays. A run that has ended well meanwhile returns its fetches.
  std::stop_token stop = {};
};

} // namespace troupe
