// One run of replicas: a thread for each, which waits for its steps, and the caller's as the chief.
// Where replicas follow the tasks of a job, one more looks which there are.
#pragma once
#include "troupe/api/train/loop/first_fill.hpp"
#include "troupe/api/train/loop/replicas_state.hpp"
#include "troupe/api/train/loop/training_values.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <set>
#include <thread>

namespace troupe {

// What several threads touch is guarded by the mutex of the state.
class replicas::state::loop {
public:
  loop(std::shared_ptr<state> of, session& in, location where);
  replicas_report run();

private:
  using clock = std::chrono::steady_clock;
  using seconds = std::chrono::duration<double>;
  using milliseconds = std::chrono::milliseconds;
  using lock_of_all = std::unique_lock<std::mutex>;
  using outcome = std::optional<result<std::vector<tensor>>>;

  // Of the steps under way when the run is to end; those of a frozen task are left behind then.
  static constexpr std::chrono::seconds end_patience{5};
  static constexpr milliseconds end_interval{50}, save_interval{20}, failed_save_interval{1000},
      control_timeout{10'000}, release_timeout{1000};
  // Without news, until one asks whether a task is there; at first, and at most.
  static constexpr clock::duration quiet = std::chrono::seconds{1},
                                   longest_quiet = std::chrono::seconds{10};
  // elastic: between two looks at the tasks of the cluster.
  static constexpr milliseconds look_interval{250};

  struct member {
    int number = 0;
    const replica_graph* of = nullptr;
    std::jthread thread = {};
    std::optional<step> prepared = {}; // its own thread's
    int64_t label = -1;                // sync: of its next step; -1: the one of all
    int64_t batch = -1;                // that it has begun, and neither ended nor given back
    int64_t given_back = -1;           // by the step that it waits for
    uint64_t beginning = 0;            // when it began that
    uint64_t turn = 0;                 // of the step that has not ended; 0: none has begun
    int attempts = 0;                  // in a row that failed
    replicas_report::counts counts = {};
    bool leaves = false; // its task is not in the cluster any more
    bool ended = false;
    bool is_in_step = false; // a step of it has ended well since it began, or was lost
    bool is_awaited = false; // bounded: it is in the clock, as far as is known
  };

  // Replicas, each on a thread of its own (replicas_loop.cpp)
  void work(member& mine);
  bool await_turn(member& mine);
  bool may_begin() const;
  bool take(member& mine);
  void give_back(member& mine);
  bool is_counted(member& mine);
  void run_step(member& mine);
  bool prepare(member& mine);
  void note(member& mine, double loss, const std::vector<tensor>& fetched);
  void failed(member& mine, const error& why);
  void lose(lock_of_all& lock, member& mine, const error& why);
  void ask(const member& mine);
  void leave(lock_of_all& lock, member& mine);
  int64_t step_of(int64_t label) const { return label - label_base_ + step_base_; }
  int in_step() const;
  int required() const;

  // Who begins and ends them (replicas_elastic.cpp)
  void add(int number);
  void end(member& mine);
  void follow_tasks();

  // The chief (replicas_chief.cpp)
  void lead();
  bool going_on();
  void take_step();
  void end_of_step(lock_of_all& lock);
  void watch();
  void check_variables();
  void get_ready(std::optional<error> cause);
  bool lost_state();
  void begin();
  template <class Which>
  void open_clock(Which living);
  void form_anew();
  void open_step();
  void drop_pending();
  void check_ends();
  error without_progress() const;
  clock::time_point next_look() const;
  template <class Done>
  void wait_for(lock_of_all& lock, Done done);

  // Checkpoints (replicas_chief.cpp)
  bool saves() const { return of_->saves.has_value(); }
  bool save_is_due() const;
  void save();
  void warn(int64_t step, const error& why);
  void await_writer();
  void watch_saver();
  bool is_sound();
  void set_begins(bool begins);
  void begin_turn(member& mine);
  void end_turn(member& mine);

  // Both
  std::shared_ptr<outcome> start(step& what, std::vector<tensor> feeds);
  std::optional<std::vector<tensor>> await(member& mine, const outcome& what);
  void pause(lock_of_all& lock, int attempts, const member* of = nullptr);
  void stop(training_end why);
  void give_up(std::exception_ptr why);
  bool all_ended() const;
  void end_steps();
  void release();
  replicas_report finish();

  const std::shared_ptr<state> of_;
  const replicas_options& options_;
  session& in_;
  const location where_;
  const clock::time_point begin_ = clock::now();
  std::map<int, member> replicas_; // by number; none goes before the run ends

  // The chief's thread alone.
  std::optional<step> apply_;
  std::shared_ptr<outcome> pending_; // what it points to is guarded
  int taken_ = 0;                    // how many gradients that step takes
  bool began_ = false;
  std::atomic<bool> saves_ours_ = false; // a checkpoint of this run is complete
  first_fill filled_;
  std::optional<int64_t> writing_; // the step of the checkpoint
  int64_t doubtful_ = -1; // sync: the label that a step was to set, of whose end nothing is known

  // sync: labels grow with each step of all, and by more when something has failed.
  int64_t label_ = -1, label_base_ = 0, step_base_ = 0;
  bool ready_ = false;           // steps may begin
  bool suspect_ = false;         // a replica has failed since the chief looked
  bool stalled_ = false;         // bounded: replicas may wait for one that nobody drives
  std::set<int64_t> given_back_; // async and bounded: batches that a lost replica had begun
  int64_t next_ = 0, done_ = 0, count_ = 0, saved_step_ = 0, restored_from_ = -1;
  uint64_t beginnings_ = 0;
  clock::time_point last_good_ = begin_, saved_at_ = begin_, looked_at_ = begin_;
  clock::time_point save_again_at_ = begin_; // not before: one is being written, or has failed
  clock::duration quiet_now_ = quiet;
  std::optional<error> first_cause_; // of those since a step ended well
  double loss_ = 0;
  uint64_t turns_ = 0, first_bad_ = UINT64_MAX; // the first with a loss that is none
  uint64_t read_until_ = 0;                     // what is being written has nothing of later turns
  bool begins_ = false;                         // no step is waited for: the variables are gone
  bool stopped_ = false, left_ = false;
  training_end why_ = training_end::asked;
  std::exception_ptr problem_;
};

} // namespace troupe
