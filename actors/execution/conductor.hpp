// The conductor starts one step on one task and learns of its end.
#pragma once
#include "troupe/actors/base/inline_actor.hpp"
#include "troupe/actors/base/messages.hpp"

#include <atomic>

namespace troupe {

/// Told once per step, on whatever thread ended it.
class step_observer {
public:
  virtual void step_ended(caf::execution_unit* unit) noexcept = 0;
  /// A result, while the step runs. False: it is kept until the end.
  virtual bool fetched(uint32_t, tensor&, caf::execution_unit*) { return false; }

protected:
  ~step_observer() = default;
};

/// The error of a step whose deadline has passed.
status overdue(uint64_t step);

/// Understands fetched and region_ended. Takes no lock: many threads run steps of one program. A
/// step has ended when nothing of it runs any more, and all its regions have run or it has failed.
class conductor_actor final : public inline_actor {
public:
  conductor_actor(caf::actor_config& config, task_instance& of) : inline_actor(config), of_(of) {}

  /// Starts a step: sends the start tokens. `observer` must stay until it was told. Regions that
  /// run at the deadline notice it; while none runs, nobody does. Of a step that has parts
  /// elsewhere what it took here may be held when it has ended.
  void begin(uint64_t step, step_observer& observer, caf::execution_unit* unit,
             stop_signal::clock::time_point deadline = stop_signal::clock::time_point::max(),
             bool parts_elsewhere = false);

  /// Fails the step, if it has not ended yet, and says whether it fails; the first cause counts.
  /// Another step than the one meant, for which the instance may serve by now, is left alone.
  bool abort(uint64_t step, status why, caf::execution_unit* unit);

  /// A region asks before it becomes ready; false when the step has failed. So does a step within
  /// the step, which leaves when it has ended.
  bool enter();
  void leave_frame(caf::execution_unit* unit) { leave(false, unit); }

  /// Does something for a step, on behalf of what was launched or asked for it, unless it has
  /// ended: then the instance may serve another. `act` returns an error that fails the step.
  template <class Act>
  void act_for(uint64_t step, Act act, caf::execution_unit* unit = nullptr) {
    if (!enter(step))
      return;
    if (auto outcome = act(); !outcome)
      fail(std::move(outcome));
    leave(false, unit);
  }

  /// Raised as soon as the step has failed: regions leave off.
  stop_signal& stop() noexcept { return stop_; }

  // After the observer was told:
  const status& outcome() const noexcept { return error_; }
  std::vector<tensor>& fetches() noexcept { return fetches_; }
  /// The step took what goes back unless it ends well elsewhere, too.
  bool holds() const noexcept { return holds_; }
  uint64_t step() const noexcept { return step_.load(std::memory_order_relaxed); }

  const char* name() const override { return "troupe.conductor"; }

private:
  // Who is active (regions that are ready or running, whoever starts or aborts), which regions are
  // missing, how often an instance has begun, and how it ended, in one word: a step of one region
  // takes three writes to it.
  static constexpr uint64_t one_active = 1, one_missing = uint64_t{1} << 24,
                            one_generation = uint64_t{1} << 48, failed = uint64_t{1} << 62,
                            ended = uint64_t{1} << 63, actives = one_missing - 1,
                            missings = one_generation - one_missing,
                            generations = failed - one_generation;

  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override;
  bool enter(uint64_t step);
  void region_ran();
  void await_accelerators();
  void leave(bool counts, caf::execution_unit* unit);
  void fail(status why);
  void tell_responders(step_ended::how outcome);
  void end(bool badly, caf::execution_unit* unit);

  task_instance& of_;
  std::atomic<uint64_t> state_{ended};
  std::atomic<uint64_t> step_{0};
  std::atomic<bool> blamed_{false}; // somebody has set the error
  step_observer* observer_ = nullptr;
  bool parts_elsewhere_ = false, holds_ = false;
  stop_signal stop_;
  status error_;
  std::vector<tensor> fetches_;
};

} // namespace troupe
