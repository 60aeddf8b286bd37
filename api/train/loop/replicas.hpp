// Replicas of a model on several tasks train it together, each by steps of its own: one that is
// dead or slow fails only itself (white paper 7 and Figure 7; OSDI 4.4 and Figure 4).
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

/// When the variables follow the gradients of the replicas.
enum class replica_mode : uint8_t {
  async,   ///< as each comes, whatever the variables are by then (Downpour: Dean et al. 2012)
  bounded, ///< the same, but no replica is more than max_lead steps ahead of the slowest living one
  sync,    ///< by the mean of those of all; with backups, of those that come first
  all_reduce ///< likewise, of all that are there; each worker has a copy of the variables, and no
             ///< ps task any
};

TROUPE_API std::string_view to_string(replica_mode mode) noexcept; ///< "async"

/// One replica, as the function that builds it returns it.
struct replica_step {
  std::vector<edge> feeds = {};  ///< in the order in which replicas_options::batch gives them
  edge loss = {};                ///< one floating-point number, the mean over the batch
  std::vector<edge> others = {}; ///< what a program wants of replicas::chief(), such as guesses
};

/// What happens to training beside its steps.
struct replica_event {
  enum class kind : uint8_t {
    initialized, ///< all variables got their initial values
    restored,    ///< `text` is the checkpoint's path
    saved,       ///< `text` is the path of a checkpoint that will survive a crash; told by the
                 ///< thread that wrote it, as soon as it does
    lost,        ///< a step of `replica` failed, or its task is silent; the others go on
    back,        ///< steps of `replica` end well again
    joined,      ///< elastic: the task of `replica` is there, and it begins
    left,        ///< elastic: its task is not in the cluster any more, and it ends
    retrying,    ///< what all need is not there, such as a ps task; `text` is why
    recovered,   ///< it is there again
    warning,     ///< `text` is what went wrong, and is not worth ending the run
  };
  kind what = kind::initialized;
  int64_t step = 0;
  int replica = -1;
  std::string text = {};
};

struct replicas_report {
  int64_t step = 0; ///< done in all
  training_end why = training_end::last_step;
  double loss = 0; ///< of the step of a replica that ended last, as training_report has it
  int64_t restored_from = -1;  ///< the step of the checkpoint that the run began with; -1: none
  std::string checkpoint = {}; ///< the path of the last one; empty where there is none
  struct counts {
    int64_t steps = 0;    ///< of this replica that ended well
    int64_t failures = 0; ///< attempts that failed
  };
  std::vector<counts> replicas = {}; ///< by number; of one that never was, nothing
};

struct replicas_options {
  replica_mode mode = replica_mode::async;
  int workers = 1; ///< replicas: number i runs on /job:worker/task:i
  /// Replicas begin and end with the tasks of the worker job, while training runs: one for each
  /// task that the cluster has, 1024 at most. `workers` is then how many there should be at least,
  /// which only sync waits for.
  bool elastic = false;
  /// Tasks that hold the variables; all_reduce uses none, and only asks whether this is 0. 0: all
  /// of it is in one task, such as a local one, also with all_reduce.
  int ps_tasks = 1;
  std::string worker_job = "worker";
  std::string ps_job = "ps";
  replica_devices_options::spread variables = replica_devices_options::spread::by_bytes;
  /// sync: a step takes the first `workers - backups` gradients. Where it is elastic, of n replicas
  /// that are in step (a step of theirs has ended well since they began, or were lost) the first
  /// n - backups, and no fewer than those.
  int backups = 0;
  int64_t max_lead = 4; ///< bounded: steps that a replica may be ahead of the slowest
  /// all_reduce: the devices of each worker that have a replica each, all of one kind: {"gpu:0",
  /// "gpu:1"}. Of k of them, replica r is on number r % k of worker r / k.
  std::vector<std::string> worker_devices = {"cpu:0"};
  /// all_reduce: no step is taken while fewer are there. All of them, where a model exchanges
  /// tensors between replicas itself, such as for normalization over all of a batch.
  int least_workers = 1;

  /// Makes the optimizer; required. It is given the counter of steps, for rates that change.
  std::function<std::unique_ptr<optimizer>(edge global_step)> make_optimizer = {};
  /// Changes gradients before they are applied, such as by clipping: each replica's, or with sync
  /// and all_reduce their mean; with all_reduce again for each set of workers that takes steps.
  std::function<std::vector<variable_gradient>(const std::vector<variable_gradient>&)> change = {};

  /// The share of the elements of a dense gradient that a worker sends in a step, those of the
  /// greatest magnitude; it adds the rest to the gradient of its next step (SparsifyTopK). Small
  /// gradients, of less than 64 elements, are sent whole, and so are all where it is 1. What a
  /// worker keeps is lost with it. Not with all_reduce.
  double sent = 1;

  /// The feeds of number n, on any thread; nothing ends the data. Replica r has, in step s of sync,
  /// the number s * workers + r; else, and where it is elastic, numbers are handed out as replicas
  /// are ready. One that is run again gets the same. With all_reduce, a step of n replicas has the
  /// next n numbers, in their order, and those of the next step are made while one runs.
  std::function<std::optional<std::vector<tensor>>(int64_t n)> batch = {};

  /// The folder; empty: none are written. While a run() is under way, no other may write there, and
  /// none may begin (saver_options::take_over).
  std::string checkpoints = {};
  /// Without keep_best; with all_reduce without all_state.
  saver_options keep = detail::default_value<saver_options>();
  bool resume = true; ///< begins with the newest checkpoint, if there is one
  /// Goes on with a checkpoint that does not fit the graph in all, as training_options::partial.
  bool partial = false;
  int64_t checkpoint_steps = 0;  ///< at each multiple of it, or soon after; 0: does not count
  double checkpoint_seconds = 0; ///< between two; 0: does not count

  int64_t last_step = -1; ///< in all; negative: no limit. With sync, of all replicas together
  double time_limit = 0;  ///< seconds of this run; 0: no limit
  /// True ends the run. One call at a time; must neither throw nor call the run.
  std::function<bool(const training_progress&)> when = {};
  bool stop_at_nan = true; ///< at a loss that is NaN or infinite. False: such steps count as others

  double retry_seconds = 0.1;   ///< before a replica's next attempt; doubled for each, up to 5
  double lost_seconds = 2;      ///< without an answer of its task, until a replica counts as lost
  double step_seconds = 60;     ///< that a step may take, with what it waits for
  double give_up_seconds = 120; ///< without a step that ends well: the run throws the first cause

  /// After each step of a replica, on its thread; several at once. With all_reduce, for each that
  /// took part, one after the other, before the next step; the loss is that of all.
  std::function<void(const training_progress&)> on_step = {};
  /// One call at a time. Must not throw, nor call the run.
  std::function<void(const replica_event&)> on_event = {};
};

/// Builds one graph for each replica, whose variables are on ps tasks and have the same names, and
/// a graph for the chief, which no worker runs; then runs all of them.
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
/// A replica whose task is lost tries again until the task is back, and goes on from the variables
/// as they are then; with bounded, no other waits for it; with sync, the others go on as long as
/// there are `workers - backups`. Gradients for an earlier step of sync are dropped, and one
/// replica counts once in a step, however often it was restarted. Where a ps task has lost
/// variables, all are restored from the newest checkpoint of the run, or begin anew where there is
/// none. A checkpoint becomes visible when the steps that it may have something of have ended, and
/// none of them with a loss that is NaN or infinite; a replica that is lost before it has told its
/// loss is not waited for.
///
/// With all_reduce, there is one graph, and a step is one of all replicas: their gradients are
/// added up from worker to worker while the rest is computed. When one fails, those that live agree
/// that they do (living_tasks), and go on as a smaller set; who is back, or new, gets the variables
/// of one that has them, between two steps. A set of which none has kept its variables begins with
/// the newest checkpoint.
class TROUPE_API replicas {
public:
  using location = std::source_location;
  /// Must build the same each time, but for what follows from the replica's number. Called once
  /// more than there are replicas: at first for the chief, with number 0; with all_reduce once for
  /// each, and again for all where the numbers of those that join are beyond. For replicas that
  /// come while training runs, on a thread of the run; one call at a time.
  using builder = std::function<replica_step(graph_builder& in, int replica)>;

  /// Throws troupe::error for options that make no sense, and where graphs differ.
  replicas(const builder& model, replicas_options options, location where = location::current());
  replicas(const replicas&) = delete;
  replicas& operator=(const replicas&) = delete;
  ~replicas();

  /// Trains until it is to end, then saves and returns. Throws the first error that does not pass.
  replicas_report run(session& in, location where = location::current());
  /// Ends the run in good order, within seconds; a run that begins later ends at once. While a
  /// checkpoint reads variables, a task that does not answer is waited for as long as the session
  /// says. Any thread may call.
  void request_stop() noexcept;

  graph_builder& graph() noexcept; ///< the chief's: for savers, summaries, evaluation
  /// In that graph; its nodes run on ps tasks. With all_reduce replica 0, on its worker.
  const replica_step& chief() const noexcept;
  graph_builder& graph_of(int replica); ///< throws where that replica has not been built
  edge global_step() const noexcept;    ///< in the chief's graph

private:
  struct state;
  std::shared_ptr<state> state_;
};

} // namespace troupe
