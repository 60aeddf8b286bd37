// A training run from its first step to its last: starts or resumes, saves checkpoints, reports
// progress, survives lost tasks, and stops (white paper 3.3, 4.7; OSDI 4.3).
#pragma once
#include "troupe/api/train/checkpoint/saver.hpp"
#include "troupe/api/train/input/input_pipeline.hpp"
#include "troupe/api/train/loop/summaries.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// A kind of training step. Several kinds, such as replicas on several tasks, share the variables.
struct training_step {
  std::vector<edge> feeds = {}; ///< in the order of the values of training_options::batch
  edge loss = {};               ///< a floating-point scalar
  std::vector<target> train = {};
  int concurrent_steps = 1; ///< of this kind, each on a thread of its own
};

/// The report of a completed step.
struct training_progress {
  int64_t step = 0; ///< total number of completed steps, including earlier runs
  double loss = 0;  ///< of this step
  size_t replica = 0;
  double steps_per_second = 0; ///< since the run began
};

enum class training_event_kind : uint8_t {
  initialized, ///< all variables got their initial values
  restored,    ///< `text` is the checkpoint's path
  saving,      ///< the values of a checkpoint have been read, and are being written
  saved,       ///< `text` is the path of a checkpoint that will survive a crash; reported by the
               ///< writing thread
  retrying,    ///< a step failed; `text` is the reason, `retry` the number of the attempt
  recovered,   ///< steps succeed again
  warning,     ///< `text` is a problem that does not end the run
};

/// An event of a training run, other than a completed step.
struct training_event {
  training_event_kind kind = training_event_kind::initialized;
  int64_t step = 0;
  std::string text = {};
  std::optional<error> cause = {}; ///< the first of consecutive errors
  int retry = 0;                   ///< from 1 to training_options::max_retries
};

enum class training_end : uint8_t {
  last_step,      ///< training_options::last_step was reached
  time_limit,     ///< training_options::time_limit
  stop_requested, ///< request_stop()
  condition,      ///< training_options::stop_when
  data_ended,     ///< an empty batch, or out_of_range from a queue
  not_a_number    ///< a loss is NaN or infinite. Neither its step nor later ones were saved
};

TROUPE_API std::string_view to_string(training_end reason) noexcept; ///< "the last step was done"

struct training_report {
  int64_t step = 0; ///< total number of completed steps
  training_end end_reason = training_end::last_step;
  double loss = 0; ///< of the last completed step; with not_a_number, the NaN or infinite one
  int64_t restored_from = -1;  ///< the step of the checkpoint at the start of the run; -1: none
  int retries = 0;             ///< total number of retries
  std::string checkpoint = {}; ///< the path of the last checkpoint; empty if there is none
  std::vector<step_statistics> trace = {}; ///< of the first training_options::trace_steps steps
};

struct training_options {
  /// Returns the feeds of step n, counted from 0, on any thread; nullopt ends the data. A repeated
  /// step gets the same number. Empty: steps have no feeds.
  std::function<std::optional<std::vector<tensor>>(int64_t n)> batch = {};
  /// Started with the run, and again after lost state. In that case the session's container is
  /// cleared, and all of it restored: no other run may use this container.
  const input_pipeline* input = nullptr;
  node* initializer = nullptr; ///< null: the graph's initializer
  /// Run at each start, after the variables have got their values, also from a checkpoint: for
  /// instance to initialize constant tables. Null: none.
  node* local_initializer = nullptr;

  /// Folder of checkpoints; empty: none are written. During run(), no other saver may write to it,
  /// and none may begin (saver_options::take_over, which also applies to `summaries`).
  std::string checkpoints = {};
  saver_options checkpoint_options = detail::default_value<saver_options>();
  bool resume = true; ///< starts from the newest checkpoint, if there is one
  /// Accepts a checkpoint that does not match the graph completely. Variables that it lacks, or has
  /// with another type or shape, get their initial values; each is reported as a warning. False:
  /// the run fails, and its error names them.
  bool partial = false;
  int64_t checkpoint_steps = 0;  ///< saves at each multiple of it, or soon after; 0: disabled
  double checkpoint_seconds = 0; ///< interval between two checkpoints; 0: disabled
  /// No step runs while values are read: a consistent cut. If tasks write
  /// (saver_options::sharded_by_task), none runs until they have written.
  bool pause_during_checkpoint = false;
  /// Checkpoints include the contents of the queues, the positions of readers and the remaining
  /// runs of runners, so that a resumed run gets each element exactly once. Steps and runners pause
  /// while this is read. Elements that wait to be enqueued are enqueued first, beyond the capacity.
  bool save_input = false;
  /// Ranks each checkpoint (saver_options::keep_best), for instance by evaluating other data.
  /// Called before its values are read, on a thread that runs steps, within the pause if there is
  /// one.
  std::function<double(int64_t step)> checkpoint_metric = {};

  std::string summaries = {};  ///< folder of event files; empty: none are written
  edge summary = {};           ///< written in addition to the loss: a Summary (`summaries::merged`)
  int64_t summary_steps = 100; ///< interval between two summaries

  int64_t last_step = -1; ///< total; negative: no limit
  double time_limit = 0;  ///< seconds of this run; 0: no limit
  /// Ends the run if it returns true. Called once for each successful step, after the
  /// `checkpoint_metric` of a checkpoint that is due. Calls are serialized. Must neither throw nor
  /// call the run.
  std::function<bool(const training_progress&)> stop_when = {};
  bool stop_at_nan =
      true; ///< stops at a loss that is NaN or infinite. False: such steps count as others

  /// Maximum number of consecutive attempts after a temporary error (unavailable, aborted,
  /// deadline_exceeded, or lost variables). A successful step resets the count. Each action after a
  /// step (on_step, summaries, checkpoints) has a separate count of retries.
  int max_retries = 10;
  double retry_delay_seconds = 0.1; ///< before the first attempt; doubled for each, up to 5

  /// Called on the threads that run steps, possibly concurrently.
  std::function<void(const training_progress&)> on_step = {};
  /// Calls are serialized. Must not throw, nor call the run.
  std::function<void(const training_event&)> on_event = {};
  int64_t trace_steps = 0; ///< number of first steps whose statistics the report has
};

/// Runs the training steps of a graph, with checkpoints, summaries, retries and events.
///
///     training_run training{g, {.feeds = {x, y}, .loss = loss, .train = {train}},
///                           {.batch = next, .checkpoints = "run/model", .checkpoint_seconds = 60,
///                            .last_step = 10'000}};
///     auto report = training.run(s);
///
/// A killed process loses only the steps after the newest checkpoint: the next run resumes from it.
/// With several concurrent steps, a checkpoint with a pause has exactly the state of its step.
/// Without a pause, steps that end while values are read are repeated after a restore. A checkpoint
/// becomes visible when all steps that may have contributed to it have ended, and none of them with
/// a loss that is NaN or infinite (training_options::stop_at_nan).
///
/// Local variables, such as the counters of metrics, are not in checkpoints. They are initialized
/// at each start.
class TROUPE_API training_run {
public:
  using location = std::source_location;

  /// Adds nodes that save, restore and check the variables of the graph. The graphs of further
  /// steps must have the same variables.
  training_run(graph_builder& in, std::vector<training_step> steps, training_options options,
               location where = location::current());
  training_run(graph_builder& in, training_step step, training_options options,
               location where = location::current())
      : training_run(in, std::vector<training_step>{std::move(step)}, std::move(options), where) {}
  training_run(const training_run&) = delete;
  training_run& operator=(const training_run&) = delete;
  ~training_run();

  /// Trains until the end, then saves and returns. The calling thread also runs steps. Throws the
  /// first permanent error; nothing more is saved then.
  training_report run(session& in, location where = location::current());

  /// Ends the run in an orderly way after the steps in progress: a checkpoint is saved.
  /// Thread-safe, for instance for a thread that waits for signals. A run that begins later ends
  /// immediately.
  void request_stop() noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
