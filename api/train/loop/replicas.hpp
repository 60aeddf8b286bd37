// Replicas of a model on several tasks, which train it together. Each runs steps of its own: a dead
// or slow replica does not fail the others (white paper 7 and Figure 7; OSDI 4.4 and Figure 4).
#pragma once
#include "troupe/api/device_functions.hpp"
#include "troupe/api/train/loop/training_run.hpp"
#include "troupe/api/train/optimizers/optimizer.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// The way in which gradients of the replicas update the variables.
enum class replica_mode : uint8_t {
  async,     ///< each gradient is applied on arrival (Downpour: Dean et al. 2012)
  bounded,   ///< like async, but no replica is more than max_staleness steps ahead of the slowest
             ///< live one
  sync,      ///< the mean of all gradients is applied; with backups, that of the first arrivals
  all_reduce ///< the mean of all live replicas; each worker has a copy of the variables, and there
             ///< are no ps tasks
};

TROUPE_API std::string_view to_string(replica_mode mode) noexcept; ///< "async"

/// One replica, as its builder returns it.
struct replica_step {
  std::vector<edge> feeds = {}; ///< in the order of the values of replicas_options::batch
  edge loss = {};               ///< a floating-point scalar, the mean over the batch
  /// Further edges for users of replicas::chief(), such as predictions.
  std::vector<edge> extra_fetches = {};
};

enum class replica_event_kind : uint8_t {
  initialized, ///< all variables got their initial values
  restored,    ///< `text` is the checkpoint's path
  saved,       ///< `text` is the path of a checkpoint that will survive a crash; reported by the
               ///< writing thread
  lost,        ///< a step of `replica` failed, or its task is silent; the others continue
  back,        ///< steps of `replica` succeed again
  joined,      ///< elastic: the task of `replica` has joined, and the replica begins
  left,        ///< elastic: its task has left the cluster, and the replica ends
  retrying,    ///< a task that all replicas need is unavailable, such as a ps task; `text` is the
               ///< reason
  recovered,   ///< it is available again
  warning,     ///< `text` is a problem that does not end the run
};

/// An event of a run of replicas, other than a completed step.
struct replica_event {
  replica_event_kind kind = replica_event_kind::initialized;
  int64_t step = 0;
  int replica = -1;
  std::string text = {};
};

struct replicas_report {
  int64_t step = 0; ///< total number of completed steps
  training_end end_reason = training_end::last_step;
  double loss = 0;             ///< of the last completed step of a replica, as in training_report
  int64_t restored_from = -1;  ///< the step of the checkpoint at the start of the run; -1: none
  std::string checkpoint = {}; ///< the path of the last checkpoint; empty if there is none
  struct counts {
    int64_t steps = 0;    ///< successful steps of this replica
    int64_t failures = 0; ///< failed attempts
  };
  std::vector<counts> replicas = {}; ///< by number; zeros for one that never existed
};

struct replicas_options {
  replica_mode mode = replica_mode::async;
  int workers = 1; ///< replicas: number i runs on /job:worker/task:i
  /// Replicas begin and end with the tasks of the worker job during the run: one for each task of
  /// the cluster, at most 1024. `workers` is then the minimum number, for which only sync waits.
  bool elastic = false;
  /// Number of tasks that hold the variables. 0: all nodes run in one task, such as that of a local
  /// session. With all_reduce, no task holds variables, and all other numbers mean the same.
  int ps_tasks = 1;
  std::string worker_job = "worker";
  std::string ps_job = "ps";
  replica_devices_options::spread variables = replica_devices_options::spread::by_bytes;
  /// sync: a step takes the first `workers - backups` gradients. If elastic, it takes the first n -
  /// backups of the n replicas in step, and at least `workers - backups`. A replica is in step
  /// after its first successful step since it began or was lost.
  int backups = 0;
  int64_t max_staleness = 4; ///< bounded: steps that a replica may be ahead of the slowest
  /// all_reduce: the devices of each worker that have a replica each, all of one kind: {"gpu:0",
  /// "gpu:1"}. With k devices, replica r is on device r % k of worker r / k.
  std::vector<std::string> worker_devices = {"cpu:0"};
  /// all_reduce: minimum number of workers for a step. Must be all workers if a model exchanges
  /// tensors between replicas itself, for instance for normalization over the whole batch.
  int min_workers = 1;

  /// Creates the optimizer; required. Its argument is the step counter, for learning rate
  /// schedules.
  std::function<std::unique_ptr<optimizer>(edge global_step)> make_optimizer = {};
  /// Transforms gradients before they are applied, for instance by clipping: each replica's, or
  /// with sync and all_reduce their mean. With all_reduce it is called again for each new set of
  /// workers.
  std::function<std::vector<variable_gradient>(const std::vector<variable_gradient>&)>
      transform_gradients = {};

  /// The fraction of the elements of a dense gradient that a worker sends in a step, those of the
  /// greatest magnitude. The remainder is added to the gradient of its next step (SparsifyTopK).
  /// Gradients of less than 64 elements are sent completely, and so are all gradients if the
  /// fraction is 1. The remainder of a lost worker is lost. Not with all_reduce.
  double top_k_fraction = 1;

  /// Returns the feeds of batch n, on any thread; nullopt ends the data. With sync, step s of
  /// replica r has the number s * workers + r. In other modes, and if elastic, numbers are assigned
  /// to replicas as they become ready. A repeated step gets the same number. With all_reduce, a
  /// step of n replicas has the next n numbers, in their order, and those of the next step are
  /// computed while one runs.
  std::function<std::optional<std::vector<tensor>>(int64_t n)> batch = {};

  /// Folder of checkpoints; empty: none are written. During run(), no other saver may write to it,
  /// and none may begin (saver_options::take_over).
  std::string checkpoints = {};
  /// keep_best is not supported, nor save_all_state with all_reduce.
  saver_options checkpoint_options = detail::default_value<saver_options>();
  bool resume = true; ///< starts from the newest checkpoint, if there is one
  /// Accepts a checkpoint that does not match the graph completely, like training_options::partial.
  bool partial = false;
  int64_t checkpoint_steps = 0;  ///< saves at each multiple of it, or soon after; 0: disabled
  double checkpoint_seconds = 0; ///< interval between two checkpoints; 0: disabled

  int64_t last_step = -1; ///< total, of all replicas with sync; negative: no limit
  double time_limit = 0;  ///< seconds of this run; 0: no limit
  /// Ends the run if it returns true. Calls are serialized. Must neither throw nor call the run.
  std::function<bool(const training_progress&)> stop_when = {};
  bool stop_at_nan =
      true; ///< stops at a loss that is NaN or infinite. False: such steps count as others

  double retry_delay_seconds = 0.1; ///< before a replica's next attempt; doubled for each, up to 5
  double lost_timeout_seconds = 2;  ///< silence of its task until a replica counts as lost
  double step_timeout_seconds = 60; ///< timeout of a step, including its waits
  /// Time without a successful step after which the run throws the first cause.
  double give_up_timeout_seconds = 120;

  /// Called after each step of a replica, on its thread; possibly concurrently. With all_reduce, it
  /// is called for each replica of the step in turn, before the next step; the loss is that of all.
  std::function<void(const training_progress&)> on_step = {};
  /// Calls are serialized. Must not throw, nor call the run.
  std::function<void(const replica_event&)> on_event = {};
};

/// Builds one graph for each replica, whose variables are on ps tasks and have the same names, and
/// a graph for the chief, which no worker runs; then runs them.
///
///     replicas training{[](graph_builder& g, int) {
///                         auto x = g.placeholder(dtype::f32, {-1, 64});
///                         auto y = g.placeholder(dtype::i32, {-1});
///                         return replica_step{{x, y}, softmax_loss(dense(g, x, 10), y)};
///                       },
///                       {.mode = replica_mode::sync, .workers = 5, .ps_tasks = 2, .backups = 1,
///                        .make_optimizer = [](edge) { return std::make_unique<momentum>(0.1); },
///                        .batch = next, .last_step = 10'000}};
///     auto report = training.run(s);
///
/// A replica whose task is lost retries until the task is back, and continues with the current
/// values of the variables. With bounded, other replicas do not wait for it. With sync, the others
/// continue as long as there are `workers - backups`. Gradients for an earlier step of sync are
/// dropped, and a replica counts once in a step, even if it was restarted. If a ps task has lost
/// variables, all variables are restored from the newest checkpoint of the run, or initialized
/// again if there is none.
///
/// A checkpoint becomes visible when all steps that may have contributed to it have ended, and none
/// of them with a loss that is NaN or infinite. A replica that is lost before it has reported its
/// loss is not waited for.
///
/// With all_reduce, there is one graph, and a step is one of all replicas: their gradients are
/// summed from worker to worker while the remainder is computed. If one fails, the live ones agree
/// on a smaller set (live_tasks) and continue. Returning and new workers get the variables of a
/// replica that has them, between two steps. A set without any complete copy of the variables
/// starts from the newest checkpoint.
class TROUPE_API replicas {
public:
  using location = std::source_location;
  /// Must build the same graph in each call, except for differences by the replica's number. Called
  /// once more than there are replicas: first for the chief, with number 0. With all_reduce it is
  /// called once for each replica, and again for all if workers join whose numbers exceed those of
  /// the graph. For replicas that join during a run, it is called on a thread of the run. Calls are
  /// serialized.
  using builder = std::function<replica_step(graph_builder& in, int replica)>;

  /// Throws troupe::error for invalid options, and if graphs differ.
  replicas(const builder& model, replicas_options options, location where = location::current());
  replicas(const replicas&) = delete;
  replicas& operator=(const replicas&) = delete;
  ~replicas();

  /// Trains until the end, then saves and returns. Throws the first permanent error.
  replicas_report run(session& in, location where = location::current());
  /// Ends the run in an orderly way, within seconds; a run that begins later ends immediately. If a
  /// checkpoint is reading variables, a silent task delays the end up to the session's timeout.
  /// Thread-safe.
  void request_stop() noexcept;

  graph_builder& graph() noexcept; ///< the chief's graph: for savers, summaries, evaluation
  /// The chief's model; its nodes run on ps tasks. With all_reduce, replica 0 on its worker.
  const replica_step& chief() const noexcept;
  graph_builder& graph_of(int replica); ///< throws if that replica has not been built
  edge global_step() const noexcept;    ///< in the chief's graph

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace troupe
