// One run of replicas that keep copies of the variables: each step is one among all that are there.
// A thread beside it looks who comes (back).
#pragma once
#include "troupe/api/train/input/batches_ahead.hpp"
#include "troupe/api/train/loop/living_tasks.hpp"
#include "troupe/api/train/loop/replica_copies.hpp"
#include "troupe/api/train/loop/replicas_state.hpp"
#include "troupe/api/train/loop/training_values.hpp"

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <thread>

namespace troupe {

// All but what the thread beside it looks at belongs to the thread that runs.
class replicas::state::copies_loop {
public:
  copies_loop(std::shared_ptr<state> of, session& in, location where);
  replicas_report run();

private:
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  using milliseconds = std::chrono::milliseconds;
  using outcome = std::optional<result<std::vector<tensor>>>;

  static constexpr std::chrono::seconds end_patience{5}; // of the step under way at the end
  static constexpr size_t most_batch_threads = 64;
  static constexpr const char* next_batch_key = "next_batch"; // of a checkpoint's notes
  static constexpr milliseconds failed_save_interval{1000}, look_interval{250},
      longest_look_interval{30'000}; // grows while who is there cannot be used

  bool going_on();
  void take_step();
  std::optional<std::vector<tensor>> next_feeds();
  outcome run_step(std::vector<tensor> feeds);
  milliseconds patience(seconds usual) const;
  static void learn(seconds& usual, clock::time_point since);
  void note(double loss);
  void failed(const error& why);
  void stop(training_end why);
  error without_progress() const;

  // The set of those that take part
  void form();
  live_set agree();
  size_t whole_first(live_set& living) const;
  void wait_for_whole(const live_set& living);
  void note_set(const live_set& now);
  void grow();
  void begin(size_t source);
  int worker_of(size_t replica) const;
  int copies_of_worker() const { return static_cast<int>(options_.worker_devices.size()); }

  // Who comes, on a thread of its own
  void look();
  bool is_news();

  // Checkpoints, of the first of the set
  bool saves() const { return !options_.checkpoints.empty(); }
  bool save_is_due() const;
  saver& saves_of(size_t replica);
  void save();
  void await_writer();
  void settle_writer();
  void warn(const error& why);
  replicas_report finish();

  const std::shared_ptr<state> of_;
  const replicas_options& options_;
  session& in_;
  const location where_;
  const clock::time_point begin_ = clock::now();
  std::shared_ptr<replica_copies> copies_; // of the graph that steps are of
  std::optional<batches_ahead> batches_;   // none where nothing is fed
  std::optional<living_tasks> tasks_;      // none where all is one task
  std::set<std::string> asked_;            // devices that these know

  std::vector<size_t> set_;    // who takes part, by number; empty: to be formed
  std::vector<size_t> before_; // the last set that was agreed on
  // Devices whose copies had all variables when the last set was formed, with the incarnations of
  // their tasks.
  std::map<std::string, uint64_t> filled_;
  std::optional<clock::time_point> without_whole_since_;
  std::map<size_t, replica_event::kind> came_; // to be told when they have their copies
  std::set<size_t> gone_;                      // replicas that have taken part, and do not now
  size_t source_ = 0;                          // one of the set
  std::optional<step> prepared_;               // of the set
  saver* writes_ = nullptr;                    // null where none writes
  int64_t done_ = 0, next_ = 0, saved_step_ = 0, restored_from_ = -1;
  int64_t steps_ = 0; // of this run
  bool began_ = false, left_ = false, stopped_ = false;
  std::atomic<bool> saves_ours_ = false; // a checkpoint of this run is complete
  int attempts_ = 0;
  int64_t in_doubt_ = 0; // how many took part in a step of which only the answer may be lost
  double loss_ = 0;
  // What these take, of late more than before; 0: none has ended.
  struct {
    seconds step{}, first_step{}, giving{}, reading{};
  } usual_;
  bool is_first_step_ = false, was_late_ = false, forms_for_news_ = false;
  clock::time_point last_good_ = begin_, saved_at_ = begin_, save_again_at_ = begin_;
  training_end why_ = training_end::asked;
  std::optional<error> first_cause_; // of those since a step ended well
  std::vector<replicas_report::counts> counts_;

  // Guarded by the mutex of the state.
  std::set<int> looked_for_ = {}; // workers that do not take part
  std::set<int> there_ = {};      // all that there were when the set was formed
  uint64_t times_formed_ = 0;
  bool news_ = false, ends_ = false;
  milliseconds look_every_ = look_interval;
};

} // namespace troupe
