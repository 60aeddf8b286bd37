// The actor that starts one step on one task and detects its end.
#pragma once
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"

#include <atomic>

namespace troupe {

/// Receives the end of a step, and its results.
class step_observer {
public:
  /// Called once per step, on the thread that ended it.
  virtual void on_step_ended(caf::execution_unit* unit) noexcept = 0;
  /// Receives a result while the step runs. Returns false to have the conductor keep the result
  /// until the end.
  virtual bool on_fetched(uint32_t, tensor&, caf::execution_unit*) { return false; }

protected:
  ~step_observer() = default;
};

/// Returns the error of a step whose deadline has passed.
status deadline_error(uint64_t step);

/// Handles fetched and region_ended. Takes no lock: many threads run steps of one program. A step
/// has ended when none of its regions is active, and all have run or the step has failed.
class conductor_actor final : public inline_actor {
public:
  conductor_actor(caf::actor_config& config, task_instance& instance)
      : inline_actor(config), instance_(instance) {}

  /// Starts a step: sends the start tokens. `observer` must live until it is notified. Running
  /// regions check the deadline; while none runs, it is not checked. If the step has parts
  /// elsewhere, the waitable resources may keep the elements that it took after it has ended here.
  void begin(uint64_t step, step_observer& observer, caf::execution_unit* unit,
             stop_signal::clock::time_point deadline = stop_signal::clock::time_point::max(),
             bool parts_elsewhere = false);

  /// Fails the step unless it has ended; returns whether it fails. The first error counts. Does
  /// nothing if the instance serves another step by now.
  bool abort(uint64_t step, status why, caf::execution_unit* unit);

  /// Called by a region before it becomes ready; false if the step has failed. A frame's function
  /// calls enter() and leave_frame(), too.
  bool enter();
  void leave_frame(caf::execution_unit* unit) { leave(false, unit); }

  /// Calls `act` on behalf of the step, unless that has ended: then the instance may serve another
  /// step. An error that `act` returns fails the step.
  template <class Act>
  void act_for(uint64_t step, Act act, caf::execution_unit* unit = nullptr) {
    if (!enter(step))
      return;
    if (auto outcome = act(); !outcome)
      fail(std::move(outcome));
    leave(false, unit);
  }

  /// Set as soon as the step has failed: running regions stop.
  stop_signal& stop() noexcept { return stop_; }

  // After the observer was notified:
  const status& outcome() const noexcept { return error_; }
  std::vector<tensor>& fetches() noexcept { return fetches_; }
  /// Whether waitable resources keep the elements that the step took until it has succeeded on the
  /// other tasks, too.
  bool keeps_inputs() const noexcept { return current_.keeps_inputs; }
  /// For the launches of its regions (launch_owner.hpp); 0: it uses no accelerators.
  uint64_t launch_owner() const noexcept { return current_.launch_owner; }
  uint64_t step() const noexcept { return step_.load(std::memory_order_relaxed); }

  const char* name() const override { return "troupe.conductor"; }

private:
  // One word holds the number of active parties (ready or running regions, and threads that start
  // or abort the step), the number of missing regions, the generation of the instance, and how the
  // step ended: a step of one region writes it three times.
  static constexpr uint64_t one_active = 1, one_missing = uint64_t{1} << 24,
                            one_generation = uint64_t{1} << 48, failed = uint64_t{1} << 62,
                            ended = uint64_t{1} << 63, actives = one_missing - 1,
                            missings = one_generation - one_missing,
                            generations = failed - one_generation;

  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override;
  bool enter(uint64_t step);
  void region_ran();
  void await_accelerators();
  void leave(bool region_done, caf::execution_unit* unit);
  void fail(status why);
  void notify_waitable_resources(step_ended::outcome_kind outcome);
  void end(bool has_failed, caf::execution_unit* unit);

  task_instance& instance_;
  std::atomic<uint64_t> state_{ended};
  std::atomic<uint64_t> step_{0};
  std::atomic<bool> has_error_{false}; // whether error_ is set
  struct {
    step_observer* observer = nullptr;
    uint64_t launch_owner = 0;
    bool has_parts_elsewhere = false, keeps_inputs = false;
  } current_; // the step
  stop_signal stop_;
  status error_;
  std::vector<tensor> fetches_;
};

} // namespace troupe
