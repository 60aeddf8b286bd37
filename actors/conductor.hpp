// The conductor starts one step on one task and learns of its end.
#pragma once
#include "troupe/actors/inline_actor.hpp"
#include "troupe/actors/messages.hpp"

#include <atomic>
#include <mutex>

namespace troupe {

/// Told once per step, on whatever thread ended it.
class step_observer {
public:
  virtual void step_ended(caf::execution_unit* unit) noexcept = 0;

protected:
  ~step_observer() = default;
};

/// The error of a step whose deadline has passed.
status overdue(uint64_t step);

/// Understands fetched and region_ended. A step has ended when nothing of it runs any more, and all
/// its regions have run or it has failed.
class conductor_actor final : public inline_actor {
public:
  conductor_actor(caf::actor_config& config, task_instance& of) : inline_actor(config), of_(of) {}

  /// Starts a step: sends the start tokens. `observer` must stay until it was told. Regions that
  /// run at the deadline notice it; while none runs, nobody does.
  void begin(uint64_t step, step_observer& observer, caf::execution_unit* unit,
             stop_signal::clock::time_point deadline = stop_signal::clock::time_point::max());

  /// Fails the step, if it has not ended yet; the first cause counts. Another step than the one
  /// meant, for which the instance may serve by now, is left alone.
  void abort(uint64_t step, status why, caf::execution_unit* unit);

  /// A region asks before it becomes ready; false when the step has failed.
  bool enter();

  /// Raised as soon as the step has failed: regions leave off.
  stop_signal& stop() noexcept { return stop_; }

  // After the observer was told:
  const status& outcome() const noexcept { return error_; }
  std::vector<tensor>& fetches() noexcept { return fetches_; }
  uint64_t step() const noexcept { return step_; }

  const char* name() const override { return "troupe.conductor"; }

private:
  bool receive(caf::mailbox_element& message, caf::execution_unit* unit) override;
  void leave(status outcome, bool counts, caf::execution_unit* unit);

  task_instance& of_;
  uint64_t step_ = 0;
  step_observer* observer_ = nullptr;
  stop_signal stop_;
  std::mutex mutex_;
  size_t missing_ = 0; // regions that have not run
  size_t active_ = 0;  // regions that are ready or running, and whoever starts or aborts
  bool ended_ = true;
  status error_;
  std::vector<tensor> fetches_;
};

} // namespace troupe
