// A kind of step after the master has compiled it: who takes part, and where feeds and fetches go.
#pragma once
#include "troupe/actors/messages.hpp"
#include "troupe/actors/step_gate.hpp"
#include "troupe/actors/task_program.hpp"

#include <atomic>
#include <span>

namespace troupe {

/// One task's part in a step.
struct participant {
  task_name task;
  register_request partitions; ///< to register them again after the task has been restarted
  std::vector<uint32_t> feeds; ///< which of the step's feeds it needs
  // Known once registered:
  caf::actor worker;
  uint64_t handle = 0;
};

/// Immutable once prepared, except for `gate`, `stale`, and for what the master changes when it
/// renews it.
class prepared_step : public std::enable_shared_from_this<prepared_step> {
public:
  explicit prepared_step(size_t max_concurrent = 0) : gate(max_concurrent) {}
  prepared_step(const prepared_step&) = delete;
  prepared_step& operator=(const prepared_step&) = delete;
  ~prepared_step(); ///< tells the workers that they may forget their parts

  step_interface outside;
  step_gate gate; ///< whoever runs it goes through here
  std::vector<participant> participants;
  /// All of it runs in this process: the caller drives it, and the master is off its path.
  std::shared_ptr<task_program> local;
  /// A task that takes part was lost: register again before the next step.
  std::atomic<bool> stale{false};
};

/// The error of a step whose time was over before it was let in.
status waited_in_line(const step_gate& gate);

} // namespace troupe
