// Options of sessions, of prepared steps and of single runs.
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
  int intra_op = 0;    ///< threads that one op may use; 0: one per core. Local sessions only
  size_t inter_op = 0; ///< threads that run ops in parallel; 0: one per core
};

/// In bytes. For local sessions; tasks of a cluster have options of their own (`troupe worker`).
struct memory_options {
  size_t limit = 0; ///< for tensors that ops allocate on the processor; 0: none
  swap_space_options swap_space =
      detail::default_value<swap_space_options>(); ///< files for values that loops with swap_memory
                                                   ///< keep
  size_t gpu_limit = 0;   ///< for each GPU device; 0: a share of nine tenths
  size_t gpu_reserve = 0; ///< for each GPU device, allocated at the start; 0: allocated on demand
  /// Time without a new tensor after which a GPU releases its cached memory; 0: never.
  std::chrono::milliseconds gpu_idle_timeout{0};
};

/// The sessions of a process share its GPUs, with the options of the first session.
struct gpu_options {
  /// Number of GPUs; creating the session fails if there are fewer. -1: all GPUs. Local sessions
  /// only.
  int count = 0;
  int devices_per_gpu = 1; ///< devices that share one GPU, for tests of programs that need several.
                           ///< Local sessions only
  bool tf32 = false; ///< products of f32 may round their operands to 10 bits. Local sessions only
  /// Measures the algorithms for a convolution at its first run, and keeps the fastest; false: uses
  /// cuDNN's heuristic. Likewise chooses between cuDNN and our kernels for other layers; false: our
  /// kernels. Deterministic sessions use the heuristic and our kernels. Local sessions only.
  bool measure_convolutions = true;
  /// A GPU is lost when it has ended no launch for this time although a run waits for it; 0: never.
  /// Must exceed the longest time that one run of a graph needs a GPU for. Local sessions only.
  std::chrono::milliseconds watchdog{0};
  /// Launches repeated sequences of kernels as one graph (docs/gpu.md); false: kernel by kernel,
  /// for debugging, or for exchanges of gradients that overlap (docs/training/replicas.md).
  bool replay = true;
  /// Each GPU has a thread that launches its kernels, so that the thread that submits work
  /// continues; costs a wake-up for each submission. Local sessions only.
  bool launch_threads = false;
  /// A node that names no device runs on a GPU or on the processor of its task, whichever is
  /// expected to take less time including copies; false: on the GPU if that has a kernel.
  bool place_by_cost = true;
};

struct insight_options {
  bool check_numerics = false; ///< as in run_options, for all runs
  uint64_t sample_every = 0;   ///< measures one of this many runs for node_times(); 0: none
  /// Known durations of nodes (read_node_times). Others are estimated from shapes until runs are
  /// measured. They decide which branches of a graph run in parallel.
  std::vector<node_time> node_times = {};
  bool region_per_node = false; ///< for debugging: each node runs as a region of its own
};

struct cluster_options {
  std::chrono::milliseconds peer_timeout{
      10'000}; ///< silence after which a task counts as gone; at most a day
  /// Certificates of this program; connections are over TLS then (docs/security.md).
  tls_files tls = detail::default_value<tls_files>();
  bool insecure = false; ///< connects to other machines without TLS
  /// Reads large tensors out of the memory of tasks on the same machine, where that is permitted.
  bool same_host_reads = true;
  /// Of spawn_session(): the thread of the system's middleman, if it has one, watches the
  /// connections to the tasks. If false, another thread does: for systems with slow brokers.
  bool share_io = true;
  /// Precision of f32 values between tasks. `rounded` halves the bytes, for gradients and
  /// parameters that tolerate it.
  f32_transfer transfer_precision = f32_transfer::exact;
};

enum class recovery_event_kind : uint8_t {
  retrying,  ///< the run is tried again, after a delay
  restoring, ///< a task was restarted: recovery_options::restore_state is called
  restored,  ///< recovery_options::restore_state has returned; steps run again
  given_up   ///< the run fails with the first error: it was the last retry, or the run must not be
             ///< repeated
};

/// A run that failed because of a task, and the session's reaction. For logs.
struct recovery_event {
  recovery_event_kind kind = recovery_event_kind::retrying;
  std::string task = {};    ///< the task that failed first or was restarted, if known
  int retry = 0;            ///< counted from 1, for each run
  std::string text = {};    ///< the event in one line, with the first cause
  uint64_t incarnation = 0; ///< of that task, if the error has it
};

/// The session's reaction to runs that fail because of lost tasks (white paper 3.3).
struct recovery_options {
  int max_retries = 0; ///< of each run that fails with an error of `kinds`; 0: it fails immediately
  /// Before the first retry; doubled for each, up to 5 s.
  std::chrono::milliseconds initial_delay{100};
  std::vector<error_kind> kinds = {error_kind::unavailable, error_kind::aborted};
  /// Also repeats runs that change variables, queues or other state. The effects of a failed
  /// attempt before its failure then happen twice.
  bool repeat_effects = false;
  /// Called after a task with state of the session was restarted, before any other run in the
  /// session: restores the lost state, for instance by saver::restore. Its own runs are not
  /// retried. If it throws, the run that waits for it fails. Empty: the run that detects the loss
  /// fails (aborted) and is not retried, unless an earlier error has already reported the loss of
  /// this task to its caller.
  std::function<void(session&)> restore_state = {};
  /// Called on the threads of runs, possibly concurrently. Must not throw.
  std::function<void(const recovery_event&)> on_event = {};
};

struct session_options {
  thread_options threads = {};
  memory_options memory = detail::default_value<memory_options>();
  gpu_options gpu = {};
  pass_options passes = {}; ///< pass_options::none() runs graphs as they were written
  insight_options insight = detail::default_value<insight_options>();
  cluster_options cluster = detail::default_value<cluster_options>();
  placement_options placement = {}; ///< which nodes run on which device (docs/placement.md)
  /// For blocking runs: not for run_async().
  recovery_options recovery = detail::default_value<recovery_options>();
  std::string container = {};                ///< for variables that name none
  std::chrono::milliseconds timeout{60'000}; ///< for runs that name none; positive
  size_t max_concurrent_steps = 0; ///< of each prepared step; others are queued. 0: no limit
  bool deterministic = false;      ///< the same bits for any number of threads (docs/insight.md)
  /// "host:port" of the HTTP server of a local session with /metrics, /healthz, /readyz and
  /// /v1/node/, as tasks have it (docs/operating.md); port 0: any, see session::http_port(). Empty:
  /// no server. Loopback only, unless `http_allow_remote` allows more: clients see names of nodes
  /// and files, and cannot change anything.
  std::string http = {};
  bool http_allow_remote = false;
  /// Called with each warning, on a thread of the runtime: for instance a node that names a GPU but
  /// runs on a processor. Must not block. Empty: warnings are dropped.
  std::function<void(const std::string&)> on_warning = {};
};

/// For session::prepare().
struct prepare_options {
  /// Runs its heavy work on processors in threads of a lower priority than those of other steps:
  /// for steps that produce input of others. Queue runners (queue_runner) use it.
  bool low_priority = false;
};

struct run_options {
  std::chrono::milliseconds timeout{0}; ///< 0: the session's; a negative one is an error
  /// Takes precedence over `timeout`. A run that has not ended by then fails with
  /// `deadline_exceeded`, at most about 50 ms later, except for kernels that never check for
  /// cancellation. If it has passed before the run begins, no node runs.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Filled in with the time, the device and the duration of each node, also if the run fails;
  /// write_trace() turns it into a trace file. Must outlive the run.
  step_statistics* statistics = nullptr;
  /// Fails at the first node that produces a NaN or an infinity, and reports its inputs. Processors
  /// only.
  bool check_numerics = false;
  /// When a stop is requested, from any thread, the run fails with `cancelled`, also while it waits
  /// for tasks, for a free slot or for a retry: immediately in this process, if kernels check for
  /// cancellation, and within two seconds if other tasks take part. Elements that it took out of
  /// queues are put back; changes of variables stay. A run that has succeeded meanwhile returns its
  /// fetches.
  std::stop_token stop = {};
};

} // namespace troupe
