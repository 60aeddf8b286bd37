// Training from its first step to its last: begins or goes on where it was, saves, tells how it
// goes, survives tasks that are lost, and stops (white paper 3.3, 4.7; OSDI 4.3).
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

/// What runs in each step. Several, such as replicas on several tasks, share the variables.
struct training_step {
  std::vector<edge> feeds = {}; ///< in the order in which training_options::batch gives them
  edge loss = {};               ///< one floating-point number
  std::vector<target> train = {};
  int at_once = 1; ///< steps of this kind under way together, each on a thread of its own
};

/// What a step that has ended says.
struct training_progress {
  int64_t step = 0; ///< steps done in all, with those of runs before
  double loss = 0;  ///< of this one
  size_t replica = 0;
  double steps_per_second = 0; ///< since the run began
};

/// What happens to a run beside its steps.
struct training_event {
  enum class kind : uint8_t {
    initialized, ///< all variables got their initial values
    restored,    ///< `text` is the checkpoint's path
    saving,      ///< a checkpoint has been read, and is being written beside the training
    saved,       ///< `text` is the path of a checkpoint that will survive a crash; told by the
                 ///< thread that wrote it, as soon as it does
    retrying,    ///< a step failed; `text` is why, `retry` is which attempt to go on
    recovered,   ///< steps run again
    warning,     ///< `text` is what went wrong, and is not worth ending the run
  };
  kind what = kind::initialized;
  int64_t step = 0;
  std::string text = {};
  std::optional<error> cause = {}; ///< the first error of those in a row
  int retry = 0;                   ///< from 1 to training_options::retries
};

enum class training_end : uint8_t {
  last_step,   ///< training_options::last_step were done
  time_over,   ///< training_options::time_limit
  asked,       ///< request_stop()
  condition,   ///< training_options::when
  data_ended,  ///< a batch of nothing, or out_of_range from a queue
  not_a_number ///< a loss is NaN or infinite. Nothing of its step, or of later ones, was saved
};

TROUPE_API std::string_view to_string(training_end why) noexcept; ///< "the last step was done"

struct training_report {
  int64_t step = 0; ///< steps done in all
  training_end why = training_end::last_step;
  double loss = 0; ///< of the step that ended last; of not_a_number, the one that is none
  int64_t restored_from = -1;  ///< the step of the checkpoint that the run began with; -1: none
  int retries = 0;             ///< attempts to go on, all together
  std::string checkpoint = {}; ///< the path of the last one; empty where there is none
  std::vector<step_statistics> trace = {};
};

struct training_options {
  /// The feeds of step n, counted from 0, on any thread; nothing ends the data. A step that is run
  /// again gets the same number. None: steps are fed nothing.
  std::function<std::optional<std::vector<tensor>>(int64_t n)> batch = {};
  /// Started with the run, and again after lost state. Then the session's container is cleared, and
  /// everything in it restored: it must be this run's alone.
  const input_pipeline* input = nullptr;
  node* initializer = nullptr; ///< null: the graph's
  /// Run at each beginning, when the variables have their values, also those of a checkpoint: what
  /// fills constant tables, say. Null: nothing.
  node* local_initializer = nullptr;

  /// The folder; empty: none are written. While a run() is under way, no other may write there, and
  /// none may begin (saver_options::take_over, which counts for `summaries`, too).
  std::string checkpoints = {};
  saver_options keep = detail::default_value<saver_options>();
  bool resume = true; ///< begins with the newest checkpoint, if there is one
  /// Goes on with a checkpoint that does not fit the graph in all: takes what fits. Variables that
  /// it does not have, or has with another type or shape, get their initial values; each is told as
  /// a warning. False: the run fails, and its error names them.
  bool partial = false;
  int64_t checkpoint_steps = 0;  ///< at each multiple of it, or soon after; 0: does not count
  double checkpoint_seconds = 0; ///< between two; 0: does not count
  /// No step runs while values are read: a consistent cut. Where tasks write (saver_options::
  /// by_tasks), none runs until they have written.
  bool pause_to_checkpoint = false;
  /// Checkpoints have what the queues hold, where readers stand and how many runs runners have
  /// left: a run that goes on from one gives the elements that would have come, each once. Steps
  /// and runners pause while that is read; what waits to be put into a queue is in then, beyond the
  /// capacity.
  bool keep_input = false;
  /// Ranks each checkpoint (saver_options::keep_best), such as by a session's steps over other
  /// data. Called before its values are read, on a thread that runs steps; in a pause, if there is
  /// one.
  std::function<double(int64_t step)> metric = {};

  std::string summaries = {};  ///< the folder of event files; empty: none are written
  edge summary = {};           ///< what to write beside the loss: a Summary (`summaries::merged`)
  int64_t summary_steps = 100; ///< between two

  int64_t last_step = -1; ///< in all; negative: no limit
  double time_limit = 0;  ///< seconds of this run; 0: no limit
  /// True ends the run. One call for each step that ended well, after the `metric` of a checkpoint
  /// that is due then; one at a time; must neither throw nor call the run.
  std::function<bool(const training_progress&)> when = {};
  bool stop_at_nan = true; ///< at a loss that is NaN or infinite. False: such steps count as others

  /// Attempts to go on after an error of a kind that may pass (unavailable, aborted,
  /// deadline_exceeded, or variables that are gone), until a step has ended well again. What is
  /// done after steps has so many of its own, until it has succeeded: on_step, summaries,
  /// checkpoints.
  int retries = 10;
  double retry_seconds = 0.1; ///< before the first attempt; doubled for each, up to 5

  /// On the threads that run steps, several at once.
  std::function<void(const training_progress&)> on_step = {};
  /// One call at a time. Must not throw, nor call the run.
  std::function<void(const training_event&)> on_event = {};
  int64_t trace_steps = 0; ///< the report has statistics of the first so many
};

/// Runs the steps of a graph with all that goes around them.
///
///     training_run training{g, {.feeds = {x, y}, .loss = loss, .train = {train}},
///                           {.batch = next, .checkpoints = "run/model", .checkpoint_seconds = 60,
///                            .last_step = 10'000}};
///     auto report = training.run(s);
///
/// A process that is killed at any moment loses what came after the newest checkpoint, and no more:
/// run again, it goes on from there. With several steps at once, a checkpoint of a pause is exactly
/// that of its step; else what ends while values are read is run again by whoever restores it. A
/// checkpoint becomes visible when all steps that it may have something of have ended, and none of
/// them with a loss that is NaN or infinite (training_options::stop_at_nan).
///
/// Local variables, such as the counters of metrics, are in no checkpoint, and are initialized at
/// each beginning.
class TROUPE_API training_run {
public:
  using location = std::source_location;

  /// Adds nodes that save, restore and look after the variables of the graph. The graphs of other
  /// steps must have the same variables.
  training_run(graph_builder& of, std::vector<training_step> steps, training_options options,
               location where = location::current());
  training_run(graph_builder& of, training_step step, training_options options,
               location where = location::current())
      : training_run(of, std::vector<training_step>{std::move(step)}, std::move(options), where) {}
  training_run(const training_run&) = delete;
  training_run& operator=(const training_run&) = delete;
  ~training_run();

  /// Trains until it is to end, then saves and returns. The calling thread runs steps, too. Throws
  /// the first error that does not pass; then nothing is saved beyond what was.
  training_report run(session& in, location where = location::current());

  /// Ends the run when the steps under way have ended: saved and in good order. Any thread may
  /// call, such as one that waits for signals; a run that begins later ends at once.
  void request_stop() noexcept;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
