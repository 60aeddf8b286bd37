// One run of replicas with copies of the variables: each step is one of all live replicas. A second
// thread watches for workers that join or return.
#pragma once
#include "troupe/api/train/input/batch_prefetcher.hpp"
#include "troupe/api/train/loop/live_tasks.hpp"
#include "troupe/api/train/loop/replica_copies.hpp"
#include "troupe/api/train/loop/replicas_state.hpp"
#include "troupe/api/train/loop/training_values.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

namespace troupe {

// Belongs to the thread that runs it, except for the members that the second thread uses.
class replicas::state::copies_loop {
public:
  copies_loop(std::shared_ptr<state> shared, session& in, location where);
  replicas_report run();

private:
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  using milliseconds = std::chrono::milliseconds;
  using outcome = std::optional<result<std::vector<tensor>>>;

  static constexpr std::chrono::seconds end_timeout{5}; // for the running step at the end
  static constexpr size_t max_batch_threads = 64;
  static constexpr const char* next_batch_key = "next_batch"; // of a checkpoint's notes
  // The interval grows while workers that answer cannot be used.
  static constexpr milliseconds failed_save_interval{1000}, poll_interval{250},
      longest_poll_interval{30'000};

  bool should_continue();
  void take_step();
  std::optional<std::vector<tensor>> next_feeds();
  outcome run_step(std::vector<tensor> feeds);
  milliseconds timeout_for(seconds usual) const;
  static void update_usual(seconds& usual, clock::time_point since);
  void record_step(double loss);
  void handle_failure(const error& cause);
  void stop(training_end reason);
  error without_progress() const;

  // The set of replicas that take part in steps (replicas_copies_set.cpp)
  void form_set();
  live_set agree();
  size_t order_complete_first(live_set& living) const;
  void wait_for_complete(const live_set& living);
  void record_set(const live_set& living);
  void grow_graph();
  void initialize_variables(size_t source);
  int worker_of(size_t replica) const;
  int copies_of_worker() const { return static_cast<int>(options_.worker_devices.size()); }

  // The second thread: watches for workers (replicas_copies_set.cpp)
  void watch_workers();
  bool has_changes();

  // Checkpoints, written by the first replica of the set
  bool writes_checkpoints() const { return !options_.checkpoints.empty(); }
  bool save_is_due() const;
  saver& checkpoint_saver(size_t replica);
  void save();
  void await_writer();
  void finish_write();
  void warn(const error& cause);
  replicas_report finish();

  const std::shared_ptr<state> state_;
  const replicas_options& options_;
  session& session_;
  const location where_;
  const clock::time_point begin_ = clock::now();
  std::shared_ptr<replica_copies> copies_;  // with the graph of the steps
  std::optional<batch_prefetcher> batches_; // none if steps have no feeds
  std::optional<live_tasks> tasks_;         // none if there is only one task
  std::set<std::string> known_devices_;     // those of tasks_

  std::vector<size_t> members_;          // numbers of the replicas in the set; empty: to be formed
  std::vector<size_t> previous_members_; // the last set that was agreed on
  // Devices whose copies had all variables when the last set was formed, with the incarnations of
  // their tasks.
  std::map<std::string, uint64_t> complete_;
  std::optional<clock::time_point> incomplete_since_;
  std::map<size_t, replica_event_kind> arrivals_; // reported when they have their copies
  std::set<size_t> absent_;                       // replicas that have taken part earlier
  size_t source_ = 0;                             // a member of the set
  std::optional<step> prepared_;                  // of the set
  saver* active_saver_ = nullptr;                 // null if none writes
  int64_t done_ = 0;                              // completed steps in total
  int64_t next_ = 0;                              // number of the next batch
  int64_t steps_ = 0;                             // completed steps of this run
  int64_t saved_step_ = 0, restored_from_ = -1;
  bool has_begun_ = false, abandoned_step_ = false, stopped_ = false;
  std::atomic<bool> wrote_checkpoint_ = false; // a checkpoint of this run is complete
  int attempts_ = 0;
  // Size of the set of a failed step of which only the answer may be lost.
  int64_t unconfirmed_members_ = 0;
  double loss_ = 0;
  // Moving averages of durations; 0: none has ended.
  struct {
    seconds step{}, first_step{}, synchronize{}, read{};
  } usual_;
  bool is_first_step_ = false, was_late_ = false, forms_for_changes_ = false;
  clock::time_point last_good_ = begin_, saved_at_ = begin_, save_again_at_ = begin_;
  training_end end_reason_ = training_end::stop_requested;
  std::optional<error> first_cause_; // since the last successful step
  std::vector<replicas_report::counts> counts_;

  // Guarded by the mutex of the state.
  std::set<int> missing_workers_ = {}; // workers that do not take part
  std::set<int> known_workers_ = {};   // all workers when the set was formed
  uint64_t sets_formed_ = 0;
  bool changes_found_ = false, is_ending_ = false;
  milliseconds poll_every_ = poll_interval;
};

} // namespace troupe
