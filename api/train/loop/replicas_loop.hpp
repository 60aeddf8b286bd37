// One run of replicas: a thread for each replica, which waits for its steps, and the caller's
// thread as the chief. If elastic, one more thread follows the tasks of the job.
#pragma once
#include "troupe/api/train/loop/replicas_state.hpp"
#include "troupe/api/train/loop/run_initialization.hpp"
#include "troupe/api/train/loop/training_values.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <thread>

namespace troupe {

// State that several threads use is guarded by the mutex of the state.
class replicas::state::loop {
public:
  loop(std::shared_ptr<state> shared, session& in, location where);
  replicas_report run();

private:
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  using milliseconds = std::chrono::milliseconds;
  using run_lock = std::unique_lock<std::mutex>;
  using outcome = std::optional<result<std::vector<tensor>>>;

  // Timeout of running steps at the end of the run. Steps of frozen tasks are abandoned then.
  static constexpr std::chrono::seconds end_timeout{5};
  static constexpr milliseconds end_interval{50}, save_interval{20}, failed_save_interval{1000},
      control_timeout{10'000}, release_timeout{1000};
  // Time without progress until a task is probed; the first interval, and the longest.
  static constexpr clock::duration first_probe_delay = std::chrono::seconds{1},
                                   max_probe_delay = std::chrono::seconds{10};
  // elastic: interval between two queries of the cluster's tasks.
  static constexpr milliseconds poll_interval{250};

  struct replica_thread {
    int number = 0;
    const replica_graph* graph = nullptr;
    std::jthread thread = {};
    std::optional<step> prepared = {}; // used by its own thread only
    int64_t label = -1;                // sync: of its next step; -1: the common one
    int64_t batch = -1;                // taken, and neither completed nor returned
    int64_t returned_batch = -1;       // of the step that it waits for
    uint64_t beginning = 0;            // value of the counter when it took the batch
    uint64_t step_id = 0;              // of the running step; 0: none
    int attempts = 0;                  // consecutive failures
    replicas_report::counts counts = {};
    bool must_leave = false; // its task is not in the cluster any more
    bool ended = false;
    bool is_in_step = false; // a step has succeeded since it began, or was lost
    bool is_awaited = false; // bounded: it is in the clock, as far as is known
  };

  // Replicas, each on a thread of its own (replicas_loop.cpp)
  void work(replica_thread& self);
  bool wait_until_ready(replica_thread& self);
  bool may_begin() const;
  bool take_batch(replica_thread& self);
  void return_batch(replica_thread& self);
  bool is_counted(replica_thread& self);
  void run_step(replica_thread& self);
  bool prepare(replica_thread& self);
  void record_step(replica_thread& self, double loss, const std::vector<tensor>& fetched);
  void handle_failure(replica_thread& self, const error& cause);
  void mark_lost(run_lock& lock, replica_thread& self, const error& cause);
  void probe_worker(const replica_thread& self);
  void leave_clock(run_lock& lock, replica_thread& self);
  int64_t step_of(int64_t label) const { return label - label_base_ + step_base_; }
  int in_step() const;
  int required() const;

  // Beginning and end of replicas (replicas_elastic.cpp)
  void add(int number);
  void end(replica_thread& self);
  void follow_tasks();

  // The chief (replicas_chief.cpp)
  void run_chief();
  bool should_continue();
  void take_step();
  void finish_step(run_lock& lock);
  void watch_replicas();
  void check_variables();
  void prepare_to_run(std::optional<error> cause);
  bool lost_state();
  void initialize_variables();
  template <class Predicate>
  void open_clock(Predicate is_live);
  void rebuild_clock();
  void open_step();
  void drop_pending();
  void check_end_conditions();
  error without_progress() const;
  clock::time_point next_check() const;
  template <class Done>
  void wait_for(run_lock& lock, Done done);

  // Checkpoints (replicas_chief.cpp)
  bool writes_checkpoints() const { return state_->checkpoints.has_value(); }
  bool save_is_due() const;
  void save();
  void warn(int64_t step, const error& cause);
  void await_writer();
  void watch_saver();
  bool is_sound();
  void set_restoring(bool restoring);
  void register_step(replica_thread& self);
  void unregister_step(replica_thread& self);

  // Used by replicas and by the chief (replicas_loop.cpp)
  std::shared_ptr<outcome> start(step& prepared, std::vector<tensor> feeds);
  std::optional<std::vector<tensor>> await(replica_thread& self, const outcome& answer);
  void pause(run_lock& lock, int attempts, const replica_thread* waiting = nullptr);
  void stop(training_end reason);
  void give_up(std::exception_ptr cause);
  bool all_ended() const;
  void end_steps();
  void release_replicas();
  replicas_report finish();

  const std::shared_ptr<state> state_;
  const replicas_options& options_;
  session& session_;
  const location where_;
  const clock::time_point begin_ = clock::now();
  std::map<int, replica_thread> replicas_; // by number; entries stay until the run ends

  // Used by the chief's thread only.
  std::optional<step> apply_;
  std::shared_ptr<outcome> pending_; // the outcome itself is guarded
  int pending_gradients_ = 0;        // number of gradients that the pending step takes
  bool has_begun_ = false;
  std::atomic<bool> wrote_checkpoint_ = false; // a checkpoint of this run is complete
  run_initialization initialization_;
  std::optional<int64_t> writing_; // the step of the checkpoint
  int64_t unconfirmed_label_ = -1; // sync: label of a step whose outcome is unknown

  // sync: labels grow by 1 with each common step, and by more after a failure.
  int64_t label_ = -1, label_base_ = 0, step_base_ = 0;
  bool ready_ = false;                 // steps may begin
  bool must_check_ = false;            // a replica has failed since the chief's last check
  bool may_stall_ = false;             // bounded: replicas may wait for one without a thread
  std::set<int64_t> returned_batches_; // async and bounded: batches that lost replicas had taken
  int64_t next_ = 0;                   // number of the next batch
  int64_t done_ = 0;                   // completed steps in total: with sync, common steps
  int64_t count_ = 0;                  // successful steps of replicas in this run
  int64_t saved_step_ = 0, restored_from_ = -1;
  uint64_t beginnings_ = 0; // number of times that the variables got their values
  clock::time_point last_good_ = begin_, saved_at_ = begin_, checked_at_ = begin_;
  clock::time_point save_again_at_ = begin_; // no save before, after a failed or during a slow one
  clock::duration probe_delay_ = first_probe_delay;
  std::optional<error> first_cause_; // since the last successful step
  double loss_ = 0;
  uint64_t last_step_id_ = 0;
  uint64_t first_bad_id_ = UINT64_MAX; // the first step with a NaN or infinite loss
  uint64_t read_until_id_ = 0; // later steps have not contributed to the checkpoint being written
  bool is_restoring_ = false;  // no step is waited for, because the variables are lost
  bool stopped_ = false, abandons_steps_ = false;
  training_end end_reason_ = training_end::stop_requested;
  std::exception_ptr problem_;
};

} // namespace troupe
