// The programs of one kind of step on one task, linked with each other, and the instances that run
// them.
#pragma once
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/conductor.hpp"
#include "troupe/actors/execution/kernel_threads.hpp"
#include "troupe/actors/execution/region_threads.hpp"
#include "troupe/runtime/cluster/rendezvous.hpp"
#include "troupe/runtime/device/accelerator.hpp"
#include "troupe/runtime/insight/flight_recorder.hpp"
#include "troupe/runtime/program/collective.hpp"
#include "troupe/runtime/state/retirements.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace troupe {

/// Where an export of a program goes.
struct export_route {
  bool remote = false;
  uint32_t program = 0, region = 0, slot = token::no_slot, wait = 0; ///< on this task
  size_t peer = 0; ///< else: among task_program::peers
  uint32_t key = 0;
};

/// Where a tensor from another task goes.
struct import_route {
  uint32_t program = 0, region = 0, slot = token::no_slot, wait = 0;
};

/// The place of a wait in its group, where it is a collective operation's.
struct collective_seat {
  static constexpr uint32_t none = UINT32_MAX;
  uint32_t group = none, member = 0;
};

class task_program;

/// A node that runs functions as steps within the step (functions/frame.hpp), or what this task
/// runs of them for another.
struct task_frame {
  uint32_t number = 0;          ///< in the step
  const node* origin = nullptr; ///< the _Frame; of another task's: nothing
  std::string description;
  calling calls = calling::once;
  size_t values = 0, orders = 0, results = 0; ///< what a function takes, twice, and gives
  std::vector<size_t> unchanged;              ///< values of a loop that are the same in all turns
  int64_t parallel = 1;
  std::vector<std::shared_ptr<task_program>> functions; ///< null: this task has no part in it
  std::vector<task_name> others;                        ///< tasks that have
  std::vector<caf::actor> exchanges;                    ///< with them

  bool is_loop() const noexcept { return calls == calling::while_true; }
  bool is_shared() const noexcept { return !origin || !others.empty(); }
};

class task_instance;

/// Which run of a frame's functions an instance is.
struct frame_turn {
  static constexpr int64_t before_first = -1; ///< only the condition for the first turn
  static constexpr int64_t none = -2;         ///< of a branch

  /// That waits for it; of what another task has begun: nothing. It may end before, when the step
  /// fails, and is still there then.
  std::shared_ptr<const task_instance> around = {};
  const task_frame* of = nullptr; ///< nothing: the instance is no such run
  int64_t turn = none;

  /// "[While 'train' (model.cpp:12) iteration 3]".
  std::string description() const;
};

/// Everything but the pool is immutable once linked; any thread may use it.
class task_program : public std::enable_shared_from_this<task_program> {
public:
  /// `devices` are those of the programs: a step may still run when its worker is gone.
  task_program(caf::actor_system& system, std::vector<std::shared_ptr<const program>> programs,
               std::vector<std::shared_ptr<device>> devices,
               std::shared_ptr<flight_recorder> recorder = std::make_shared<flight_recorder>());
  ~task_program();

  /// Finds a responder's actor; called while linking.
  using responder_finder = std::function<result<caf::actor>(const node&)>;

  /// What spans of its steps are about.
  std::shared_ptr<const std::vector<span_subject>> subjects() const;
  /// Where those of a frame's function begin among them.
  uint32_t first_subject_of(const task_program& function) const;
  /// The task that it runs on: "/job:worker/task:1".
  const std::string& task() const noexcept { return task_; }
  const std::string& name_of_device(size_t program) const noexcept {
    return device_names_[program];
  }
  /// Shared by all programs of the task.
  flight_recorder& recorder() const noexcept { return *recorder_; }

  /// Connects exports with imports. `devices` names each program's device.
  status link(const task_name& self, const std::vector<device_name>& devices,
              const responder_finder& find_responder);

  /// Adds a frame of its steps, whose functions it links with the rest.
  status add(task_frame one);
  /// The frame of that number, or nullptr. Of the program of a step.
  const task_frame* frame(uint32_t number) const noexcept;
  const task_frame* frame_of(const wait_point& wait) const {
    return frame(static_cast<uint32_t>(wait.origin->attr<int64_t>("frame")));
  }
  bool has_frames() const noexcept { return !frames_.empty(); }
  /// It runs within steps: of what they hold, others take care.
  void run_within_steps() noexcept { within_steps_ = true; }
  bool runs_within_steps() const noexcept { return within_steps_; }
  /// What the first of its programs is called in the flight recorder: those of frames' functions
  /// follow those of the step.
  uint32_t first_number() const noexcept { return first_number_; }
  /// The program that has a number, and what it is a part of; nothing where there is none.
  struct numbered {
    const task_program* of = nullptr;
    const task_frame* frame = nullptr; ///< nothing: it is the step's
    uint32_t program = 0;
  };
  numbered program_of(uint32_t number) const noexcept;
  /// Where what it is called with goes; nullptr where nobody reads it.
  const import_route* argument(size_t index) const noexcept {
    return index < arguments_.size() && arguments_[index] ? &*arguments_[index] : nullptr;
  }

  /// Threads that run the regions of each program, before the first step. None for a program:
  /// whoever brings the last token runs the region.
  void set_threads(std::vector<std::shared_ptr<region_threads>> threads) {
    threads_ = std::move(threads);
  }
  region_threads* threads_of(uint32_t program) const noexcept {
    return program < threads_.size() ? threads_[program].get() : nullptr;
  }

  /// The threads that run its regions where no other do; none: those of the scheduler.
  void set_kernels(std::shared_ptr<kernel_threads> threads) { kernels_ = std::move(threads); }
  kernel_threads* kernels() const noexcept { return kernels_.get(); }

  /// The other tasks that it sends to; give their exchanges before the first step.
  const std::vector<task_name>& peers() const noexcept { return peers_; }
  void set_exchanges(std::vector<caf::actor> exchanges);
  bool sends_through(const caf::actor_addr& exchange) const {
    return std::ranges::find(exchanges_, exchange, &caf::actor::address) != exchanges_.end();
  }

  /// Which incarnations of other tasks it is meant for, as far as whoever registers it knows.
  void expect(const std::vector<known_peer>& peers);
  /// The incarnation of a task that it expects; 0: any.
  uint64_t expected(const task_name& task) const;
  /// Says whether it sends to that task or hears from it, whose loss then ends its steps.
  bool exchanges_with(const std::string& task, uint64_t incarnation) const noexcept;

  /// Says whether that task sends to it.
  bool hears_from(const task_name& task) const { return senders_.contains(to_string(task)); }

  /// The session that its steps belong to.
  uint64_t session() const noexcept { return session_; }
  void set_session(uint64_t session) { session_ = session; }

  /// Its steps, or what runs within them, use what containers hold.
  void use_state() noexcept { has_state_ = true; }
  bool has_state() const noexcept { return has_state_; }
  /// Keeps state that no program holds, such as queues.
  void keep(std::shared_ptr<named_state> state) { kept_.push_back(std::move(state)); }
  /// Fails where state of the task that the step uses has retired.
  status check_state() const {
    auto retirements = all_retirements.load(std::memory_order_acquire);
    if (seen_retirements_.load(std::memory_order_relaxed) == retirements) [[likely]]
      return {};
    return look_at_state(retirements);
  }

  /// Takes an instance out of the pool, or makes one. Whoever runs it holds this program meanwhile.
  std::shared_ptr<task_instance> check_out();
  /// Puts an instance back whose step has ended well.
  void check_in(std::shared_ptr<task_instance> idle);
  /// Lets instances go that have lain in the pool since before the last call.
  void shrink();
  size_t idle() const;

  caf::actor_system& system() const noexcept { return system_; }
  const std::vector<std::shared_ptr<const program>>& programs() const noexcept { return programs_; }
  size_t regions() const noexcept { return regions_; }
  /// The devices whose work is launched: a step has ended when they have done it.
  const std::vector<accelerator*>& accelerators() const noexcept { return accelerators_; }
  size_t fetches() const noexcept { return fetches_; } ///< one more than the highest index
  const std::vector<uint32_t>& fetch_indexes() const noexcept { return fetch_indexes_; }
  const export_route& route(uint32_t of_program, uint32_t of_export) const {
    return exports_[of_program][of_export];
  }
  const import_route* import(uint32_t key) const noexcept;
  inline_actor& responder(uint32_t of_program, uint32_t of_wait) const {
    return *responders_[of_program][of_wait];
  }
  /// What that may ask in turn, or nothing.
  const caf::actor& source(uint32_t of_program, uint32_t of_wait) const {
    return sources_[of_program][of_wait];
  }
  /// All that its steps ask.
  const std::vector<inline_actor*>& responders() const noexcept { return distinct_responders_; }
  /// Whether a step is given what goes back if it fails: then responders hear of its end.
  bool takes_things() const noexcept { return takes_things_; }
  const caf::actor& exchange(size_t peer) const { return exchanges_[peer]; }
  /// What devices compute together in a step.
  const std::vector<collective_group>& collectives() const noexcept { return collectives_; }
  const collective_seat& seat(uint32_t of_program, uint32_t of_wait) const {
    return seats_[of_program][of_wait];
  }

private:
  void append_subjects(std::vector<span_subject>& to) const;
  status look_at_state(uint64_t retirements) const;
  inline_actor* add_responder(const caf::actor& one);

  caf::actor_system& system_;
  std::vector<std::shared_ptr<device>> devices_;
  std::vector<accelerator*> accelerators_;
  std::vector<std::shared_ptr<region_threads>> threads_;
  std::shared_ptr<kernel_threads> kernels_;
  std::shared_ptr<flight_recorder> recorder_;
  std::vector<std::shared_ptr<const program>> programs_;
  std::vector<std::vector<export_route>> exports_;
  std::map<uint32_t, import_route> imports_;
  std::map<uint32_t, task_frame> frames_;
  bool within_steps_ = false, has_state_ = false;
  uint32_t first_number_ = 0, numbers_ = 0;
  std::vector<std::optional<import_route>> arguments_;
  std::vector<std::shared_ptr<named_state>> kept_;
  mutable std::atomic<uint64_t> seen_retirements_{0};
  std::vector<std::vector<inline_actor*>> responders_; // per program and wait
  std::vector<std::vector<caf::actor>> sources_;       // likewise
  std::vector<inline_actor*> distinct_responders_;
  std::vector<caf::actor> responder_handles_, exchanges_;
  bool takes_things_ = false;
  std::vector<collective_group> collectives_;
  std::vector<std::vector<collective_seat>> seats_; // per program and wait
  std::vector<task_name> peers_;
  std::set<std::string> senders_;
  std::map<std::string, uint64_t> partners_; // and their incarnations; 0: not known
  uint64_t session_ = 0;
  std::vector<uint32_t> fetch_indexes_;
  size_t regions_ = 0, fetches_ = 0;
  std::string task_;
  std::vector<std::string> device_names_; // of the programs
  struct pooled {
    std::shared_ptr<task_instance> instance;
    uint64_t since; // how many calls of shrink() there had been
  };
  // A part of the pool; cores prefer different ones, and wait for none.
  struct alignas(64) pool_shard {
    std::atomic_flag busy;
    std::vector<pooled> idle; // the one used last is taken first
  };
  static constexpr size_t pool_shards = 8;
  template <class Use>
  bool use_a_shard(Use use);
  template <class Use>
  void use_all_shards(Use use) const;

  mutable std::mutex mutex_;
  mutable std::shared_ptr<const std::vector<span_subject>> subjects_;
  mutable std::array<pool_shard, pool_shards> pool_;
  std::atomic<uint64_t> shrinks_{0};
};

class step_frames;

/// One set of region actors and their state, for one step at a time, with the step's conductor.
class task_instance : public std::enable_shared_from_this<task_instance> {
public:
  explicit task_instance(const task_program& of);
  ~task_instance();

  /// Makes the actors; regions keep the instance alive until retire().
  void populate();
  /// Lets the regions go, after a step that failed. Messages that are still under way find an ended
  /// step; the program stays for them.
  void retire();

  const task_program& program() const noexcept { return program_; }
  /// The step that it serves.
  step_id step() const noexcept { return {program_.session(), conductor_->step()}; }
  instance& part(uint32_t of_program) { return *parts_[of_program]; }
  region_actor& region(uint32_t of_program, uint32_t which) { return *regions_[of_program][which]; }
  conductor_actor& conductor() noexcept { return *conductor_; }
  /// The step that this one runs within, or itself; and as what (0: as itself).
  task_instance& root() noexcept { return *root_; }
  /// Of a root, for kernel_threads alone.
  step_in_line& in_line() noexcept { return in_line_; }
  uint32_t frame() const noexcept { return frame_; }
  uint64_t run() const noexcept { return run_; }
  void belong_to(task_instance& root, uint32_t frame, uint64_t run, const frame_turn& as) {
    root_ = &root;
    frame_ = frame;
    run_ = run;
    place_ = as;
    share_memory();
  }
  /// The turns that it is in, the outermost first: "[While 'train' iteration 3] [While 'rnn'
  /// iteration 7]"; empty for a step. While it runs.
  std::string nest() const;
  /// The error with the turns that it comes from.
  status in_nest(status why) const;
  /// What runs within it; of a root whose program has frames.
  step_frames* frames() noexcept { return frames_.get(); }
  /// Takes a tensor from another task, while the step runs.
  status receive(arrival&& what, caf::execution_unit* unit);
  collective_rendezvous& meeting(uint32_t of_group) noexcept { return *meetings_[of_group]; }

  /// Makes it ready for another step, after one that ended well.
  void reset() noexcept;

  /// Has the next step note down what it does, until the instance is checked in.
  void watch(profile_options what);
  /// What the step did, which has ended; takes the place of what `to` held, whose memory is used
  /// again. Nothing where nobody asked for times.
  void collect(task_statistics& to) const;
  /// The times of its own nodes alone.
  void collect_spans(task_statistics& to) const;
  bool watched() const noexcept { return watching_.any(); }
  const profile_options& watching() const noexcept { return watching_; }

  // Who waits can say for what and since when; a region that runs, since when. Any thread.
  void begin_step(uint64_t step) noexcept; ///< now it waits for other devices
  void begin_wait(uint32_t of_program, uint32_t of_wait) noexcept;
  /// What a wait is for has come; called before it is handed over.
  void end_wait(uint32_t of_program, uint32_t of_wait, uint64_t bytes) noexcept;
  /// In ticks; zero where it does not wait.
  int64_t waits_since(uint32_t of_program, uint32_t of_wait) const noexcept {
    return clues_[of_program].waits[of_wait].load(std::memory_order_relaxed);
  }
  std::atomic<int64_t>& runs_since(uint32_t of_program, uint32_t region) noexcept {
    return clues_[of_program].regions[region];
  }

  /// What the step's tensors take, on all of the task's devices; until the instance is checked in.
  step_memory_statistics memory() const noexcept;
  /// Text for the end of an error; empty when the step holds none. Nothing of it may be running.
  std::string describe_largest_tensors() const;
  /// Gives the feeds their values, before the step begins, from a function of their index.
  template <class ValueOf>
  void set_feeds(ValueOf&& value_of) {
    for (size_t p = 0; p < parts_.size(); ++p) {
      auto feeds = parts_[p]->program().feeds();
      for (size_t i = 0; i < feeds.size(); ++i)
        parts_[p]->set_feed(i, value_of(feeds[i].index));
    }
  }

private:
  void share_memory();

  const task_program& program_;
  std::shared_ptr<const task_program> kept_;
  std::vector<std::unique_ptr<instance>> parts_;
  struct clues {
    std::unique_ptr<std::atomic<int64_t>[]> waits, regions; // since when, in ticks
  };
  std::vector<clues> clues_; // per program
  std::vector<std::unique_ptr<collective_rendezvous>> meetings_;
  profile_options watching_;
  int64_t watched_since_ = 0;
  std::vector<std::unique_ptr<step_profiler>> watches_; // made when first wanted
  std::vector<std::vector<region_actor*>> regions_;
  std::vector<caf::actor> region_handles_;
  task_instance* root_ = this;
  uint32_t frame_ = 0;
  uint64_t run_ = 0;
  frame_turn place_;
  std::unique_ptr<step_frames> frames_;
  caf::actor conductor_handle_;
  conductor_actor* conductor_ = nullptr;
  step_in_line in_line_;
};

} // namespace troupe
