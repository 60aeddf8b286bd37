// The programs of one kind of step on one task, linked with each other, and the instances that run
// them.
#pragma once
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/execution/conductor.hpp"
#include "troupe/actors/execution/kernel_threads.hpp"
#include "troupe/actors/execution/message_counter.hpp"
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

/// The receiver of an export of a program.
struct export_route {
  bool remote = false;
  uint32_t program = 0, region = 0, slot = token::no_slot, wait = 0; ///< if on this task
  size_t peer = 0; ///< if remote: index in task_program::peers
  uint32_t key = 0;
};

/// The receiver of a tensor from another task.
struct import_route {
  uint32_t program = 0, region = 0, slot = token::no_slot, wait = 0;
};

/// The position of a wait in its group, if it belongs to a collective operation.
struct collective_slot {
  static constexpr uint32_t none = UINT32_MAX;
  uint32_t group = none, member = 0;
};

class task_program;

/// A node that runs functions as steps within the step (functions/frame.hpp), or this task's part
/// of such a node of another task.
struct task_frame {
  uint32_t number = 0;          ///< within the step
  const node* origin = nullptr; ///< the _Frame; null if another task has it
  std::string description;
  call_kind call_rule = call_kind::once;
  /// The numbers of arguments that carry values, of arguments that carry only an order of effects
  /// (frame_order), and of results.
  size_t values = 0, order_count = 0, results = 0;
  std::vector<size_t> unchanged; ///< values of a loop that are the same in all iterations
  int64_t parallel_iterations = 1;
  std::vector<std::shared_ptr<task_program>> functions; ///< null: this task has no part in it
  std::vector<task_name> other_tasks;                   ///< tasks that have a part
  std::vector<caf::actor> exchanges;                    ///< with the other tasks

  bool is_loop() const noexcept { return call_rule == call_kind::while_true; }
  bool is_shared() const noexcept { return !origin || !other_tasks.empty(); }
};

class task_instance;

/// The run of a frame's functions that an instance executes.
struct frame_iteration {
  static constexpr int64_t before_first = -1; ///< only the condition before the first iteration
  static constexpr int64_t none = -2;         ///< a branch

  /// The instance that waits for the run; null if another task began the run. It may end before the
  /// run if the step fails, but is not destroyed.
  std::shared_ptr<const task_instance> enclosing = {};
  const task_frame* frame = nullptr; ///< null: the instance is not such a run
  int64_t number = none;

  /// "[While 'train' (model.cpp:12) iteration 3]".
  std::string description() const;
};

/// The programs of one kind of step, or of one function of a frame, on this task. Everything except
/// the pool is immutable once linked; any thread may use it.
class task_program : public std::enable_shared_from_this<task_program> {
public:
  /// `devices` are those of the programs, shared because a step may outlive its worker.
  task_program(caf::actor_system& system, std::vector<std::shared_ptr<const program>> programs,
               std::vector<std::shared_ptr<device>> devices,
               std::shared_ptr<flight_recorder> recorder = std::make_shared<flight_recorder>());
  ~task_program();

  /// Finds a waitable resource's actor; called while linking.
  using waitable_finder = std::function<result<caf::actor>(const node&)>;

  /// The subjects of the spans of its steps.
  std::shared_ptr<const std::vector<span_subject>> subjects() const;
  /// The index of the first subject of a frame's function.
  uint32_t first_subject_of(const task_program& function) const;
  /// The task that runs it: "/job:worker/task:1".
  const std::string& task() const noexcept { return task_; }
  const std::string& name_of_device(size_t program) const noexcept {
    return device_names_[program];
  }
  /// Shared by all programs of the task.
  flight_recorder& recorder() const noexcept { return *recorder_; }

  /// Connects exports with imports. `devices` names each program's device.
  status link(const task_name& self, const std::vector<device_name>& devices,
              const waitable_finder& find_waitable_resource);

  /// Adds a frame of its steps, and links the functions of the frame with the other programs.
  status add(task_frame frame);
  /// Returns the frame with that number, or null. Call it on the program of a step.
  const task_frame* frame(uint32_t number) const noexcept;
  const task_frame* frame_of(const wait_point& wait) const {
    return frame(static_cast<uint32_t>(wait.origin->attr<int64_t>("frame")));
  }
  bool has_frames() const noexcept { return !frames_.empty(); }
  /// Marks it as a program that runs within steps: the enclosing step handles waitable resources.
  void run_within_steps() noexcept { within_steps_ = true; }
  bool runs_within_steps() const noexcept { return within_steps_; }
  /// The number of its first program in the flight recorder. The programs of frames' functions
  /// follow those of the step.
  uint32_t first_number() const noexcept { return first_number_; }
  /// Returns the program with that number and its owner; all null if there is none.
  struct numbered {
    const task_program* owner = nullptr;
    const task_frame* frame = nullptr; ///< null: it belongs to the step
    uint32_t program = 0;
  };
  numbered program_of(uint32_t number) const noexcept;
  /// Returns the receiver of an argument; null if the function does not read it.
  const import_route* argument(size_t index) const noexcept {
    return index < arguments_.size() && arguments_[index] ? &*arguments_[index] : nullptr;
  }

  /// Sets the threads that run the regions of each program; call it before the first step. Regions
  /// of a program without threads run on the thread that brings the last token.
  void set_threads(std::vector<std::shared_ptr<region_threads>> threads) {
    threads_ = std::move(threads);
  }
  region_threads* threads_of(uint32_t program) const noexcept {
    return program < threads_.size() ? threads_[program].get() : nullptr;
  }

  /// Sets the threads of regions that no other threads run; null: those of the scheduler.
  void set_kernels(std::shared_ptr<kernel_threads> threads) { kernels_ = std::move(threads); }
  kernel_threads* kernels() const noexcept { return kernels_.get(); }

  /// The other tasks that it sends to; call set_exchanges() before the first step.
  const std::vector<task_name>& peers() const noexcept { return peers_; }
  void set_exchanges(std::vector<caf::actor> exchanges);
  bool sends_through(const caf::actor_addr& exchange) const {
    return std::ranges::find(exchanges_, exchange, &caf::actor::address) != exchanges_.end();
  }

  /// Sets the expected incarnations of other tasks, as far as the registering master knows them.
  void expect(const std::vector<known_peer>& peers);
  /// The incarnation of a task that it expects; 0: any.
  uint64_t expected_incarnation(const task_name& task) const;
  /// Returns whether it exchanges tensors with that incarnation of a task, whose loss then ends its
  /// steps. An incarnation of 0, or one that the program does not know, matches any.
  bool exchanges_with(const std::string& task, uint64_t incarnation) const noexcept;

  /// Returns whether that task sends to it.
  bool receives_from(const task_name& task) const { return senders_.contains(to_string(task)); }

  /// The session that its steps belong to.
  uint64_t session() const noexcept { return session_; }
  void set_session(uint64_t session) { session_ = session; }

  /// Notes that its steps, or runs within them, use the state in containers.
  void use_state() noexcept { has_state_ = true; }
  bool has_state() const noexcept { return has_state_; }
  /// Keeps state that no program owns, such as queues.
  void keep(std::shared_ptr<named_state> state) { kept_states_.push_back(std::move(state)); }
  /// Fails if state of the task that the step uses has retired.
  status check_state() const {
    auto retirements = retirement_counter.load(std::memory_order_acquire);
    if (seen_retirements_.load(std::memory_order_relaxed) == retirements) [[likely]]
      return {};
    return check_retirements(retirements);
  }

  /// Takes an instance out of the pool, or makes one. Own this program while the instance runs.
  std::shared_ptr<task_instance> check_out();
  /// Returns an instance whose step has succeeded to the pool.
  void check_in(std::shared_ptr<task_instance> idle);
  /// Destroys the instances that have been in the pool since before the last call.
  void shrink();
  size_t idle() const;

  caf::actor_system& system() const noexcept { return system_; }
  const std::vector<std::shared_ptr<const program>>& programs() const noexcept { return programs_; }
  size_t regions() const noexcept { return regions_; }
  /// The devices that run work after its launch: a step ends when they have finished its work.
  const std::vector<accelerator*>& accelerators() const noexcept { return accelerators_; }
  size_t fetches() const noexcept { return fetches_; } ///< one more than the highest index
  const std::vector<uint32_t>& fetch_indexes() const noexcept { return fetch_indexes_; }
  const export_route& route(uint32_t of_program, uint32_t of_export) const {
    return exports_[of_program][of_export];
  }
  const import_route* import(uint32_t key) const noexcept;
  inline_actor& waitable_resource(uint32_t of_program, uint32_t of_wait) const {
    return *waitable_resources_[of_program][of_wait];
  }
  /// The waitable resource to which the one of that wait may send requests; null if none.
  const caf::actor& source(uint32_t of_program, uint32_t of_wait) const {
    return sources_[of_program][of_wait];
  }
  /// All waitable resources that its steps use.
  const std::vector<inline_actor*>& waitable_resources() const noexcept {
    return distinct_resources_;
  }
  /// Whether a step takes values that waitable resources take back if it fails: then they are
  /// notified of its end.
  bool has_revocable_inputs() const noexcept { return has_revocable_inputs_; }
  const caf::actor& exchange(size_t peer) const { return exchanges_[peer]; }
  /// The groups of its collective operations.
  const std::vector<collective_group>& collectives() const noexcept { return collectives_; }
  const collective_slot& slot_of(uint32_t of_program, uint32_t of_wait) const {
    return collective_slots_[of_program][of_wait];
  }

private:
  class linker;

  void append_subjects(std::vector<span_subject>& to) const;
  status check_retirements(uint64_t retirements) const;
  inline_actor* add_waitable_resource(const caf::actor& handle);

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
  uint32_t first_number_ = 0, next_number_ = 0; // of programs, in the flight recorder
  std::vector<std::optional<import_route>> arguments_;
  std::vector<std::shared_ptr<named_state>> kept_states_;
  mutable std::atomic<uint64_t> seen_retirements_{0};
  std::vector<std::vector<inline_actor*>> waitable_resources_; // per program and wait
  std::vector<std::vector<caf::actor>> sources_;               // likewise
  std::vector<inline_actor*> distinct_resources_;
  std::vector<caf::actor> resource_handles_, exchanges_;
  bool has_revocable_inputs_ = false;
  std::vector<collective_group> collectives_;
  std::vector<std::vector<collective_slot>> collective_slots_; // per program and wait
  std::vector<task_name> peers_;
  std::set<std::string> senders_;
  std::map<std::string, uint64_t> partners_; // with their incarnations; 0: unknown
  uint64_t session_ = 0;
  std::vector<uint32_t> fetch_indexes_;
  size_t regions_ = 0, fetches_ = 0;
  std::string task_;
  std::vector<std::string> device_names_; // of the programs
  struct pooled {
    std::shared_ptr<task_instance> instance;
    uint64_t since; // the number of calls of shrink() before it was checked in
  };
  // A part of the pool. Cores prefer different parts, and wait for none.
  struct alignas(64) pool_shard {
    std::atomic_flag busy;
    std::vector<pooled> idle; // a stack
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

/// Returns the messages of each step of the programs that succeeds, or of each run of a function,
/// without those of runs within it.
message_counts required_messages(const task_program& linked) noexcept;

class step_frames;

/// One set of region actors with their state and conductor, for one step at a time.
class task_instance : public std::enable_shared_from_this<task_instance> {
public:
  explicit task_instance(const task_program& task);
  ~task_instance();

  /// Spawns the actors; regions keep the instance alive until retire().
  void populate();
  /// Releases the regions after a step that failed. Late messages find an ended step; the program
  /// lives until they are handled.
  void retire();

  const task_program& program() const noexcept { return program_; }
  /// The current step.
  step_id step() const noexcept { return {program_.session(), conductor_->step()}; }
  instance& part(uint32_t of_program) { return *parts_[of_program]; }
  region_actor& region(uint32_t of_program, uint32_t which) { return *regions_[of_program][which]; }
  conductor_actor& conductor() noexcept { return *conductor_; }
  /// The instance of the step that this one runs within, or itself.
  task_instance& root() noexcept { return *root_; }
  /// Used by kernel_threads only, on a root.
  step_queue_state& queue_state() noexcept { return queue_state_; }
  /// The frame and the run of the frame that it executes; 0: it is a root.
  uint32_t frame() const noexcept { return frame_; }
  uint64_t run() const noexcept { return run_; }
  /// Makes it a run of a frame within the step of `root`.
  void belong_to(task_instance& root, uint32_t frame, uint64_t run,
                 const frame_iteration& iteration) {
    root_ = &root;
    frame_ = frame;
    run_ = run;
    iteration_ = iteration;
    share_memory();
  }
  /// The enclosing iterations, the outermost first: "[While 'train' iteration 3] [While 'rnn'
  /// iteration 7]"; empty for a step. Call it while the step runs.
  std::string enclosing_iterations() const;
  /// Returns the error with the enclosing iterations.
  status within_iterations(status why) const;
  /// The runs within it; not null for a root whose program has frames.
  step_frames* frames() noexcept { return frames_.get(); }
  /// Takes a tensor from another task, while the step runs.
  status receive(arrival&& message, caf::execution_unit* unit);
  collective_rendezvous& rendezvous_of(uint32_t of_group) noexcept {
    return *rendezvous_[of_group];
  }

  /// Prepares it for another step, after one that succeeded.
  void reset() noexcept;

  /// Profiles the next step, until the instance is checked in.
  void profile(profile_options options);
  /// Replaces the contents of `to` with the profile of the step, which has ended; reuses the memory
  /// of `to`. Empty if the step was not profiled.
  void collect(task_statistics& to) const;
  /// Appends the times of its own nodes, and sets the messages, without those of runs within it.
  void collect_spans(task_statistics& to) const;
  bool is_profiled() const noexcept { return profile_.options.any(); }
  const profile_options& profiling() const noexcept { return profile_.options; }
  /// The messages of the step; counted if it is profiled.
  message_counter& messages() noexcept { return profile_.messages; }

  // Start times of waits and of running regions. Any thread may call.
  void begin_step(uint64_t step) noexcept; ///< the waits for other devices begin
  void begin_wait(uint32_t of_program, uint32_t of_wait) noexcept;
  /// The value of a wait has come; called before it is delivered.
  void end_wait(uint32_t of_program, uint32_t of_wait, uint64_t bytes) noexcept;
  /// The start time of a wait in ticks (ticks_now()); 0 if it does not wait.
  int64_t waits_since(uint32_t of_program, uint32_t of_wait) const noexcept {
    return timestamps_[of_program].waits[of_wait].load(std::memory_order_relaxed);
  }
  /// The start time of a region's run in ticks; 0 if it does not run.
  std::atomic<int64_t>& runs_since(uint32_t of_program, uint32_t region) noexcept {
    return timestamps_[of_program].regions[region];
  }

  /// The memory of the step's tensors on all devices of the task, until the instance is checked in.
  step_memory_statistics memory() const noexcept;
  /// Returns text for the end of an error; empty if the step holds no tensors. Call it while none
  /// of its regions runs.
  std::string describe_largest_tensors() const;
  /// Sets the feeds, before the step begins, from a function of their index.
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
  std::shared_ptr<const task_program> kept_program_;
  std::vector<std::unique_ptr<instance>> parts_;
  struct wait_timestamps {
    // Start times in ticks; 0: does not wait or run.
    std::unique_ptr<std::atomic<int64_t>[]> waits, regions;
  };
  std::vector<wait_timestamps> timestamps_; // per program
  std::vector<std::unique_ptr<collective_rendezvous>> rendezvous_;
  struct profile_record {
    profile_options options;
    message_counter messages;
    int64_t since_ns = 0;
    std::vector<std::unique_ptr<step_profiler>> profilers; // made at the first use
  };
  profile_record profile_;
  std::vector<std::vector<region_actor*>> regions_;
  std::vector<caf::actor> region_handles_;
  task_instance* root_ = this;
  uint32_t frame_ = 0;
  uint64_t run_ = 0;
  frame_iteration iteration_;
  std::unique_ptr<step_frames> frames_;
  caf::actor conductor_handle_;
  conductor_actor* conductor_ = nullptr;
  step_queue_state queue_state_;
};

} // namespace troupe
