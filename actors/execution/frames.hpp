// The frames of one step on one task: functions that run as steps within the step, each on its own
// instances (docs/decisions/051). A frame is owned by the task that has its node. Other tasks take
// part in it as guests: they get one tensor_push for each run of a function.
#pragma once
#include "troupe/actors/execution/iteration_times.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/cluster/rendezvous.hpp"

#include <map>
#include <mutex>
#include <set>

namespace troupe {

/// The key of a tensor_push that begins a run of a frame's function. The tensor is the function's
/// number.
constexpr uint32_t begin_run_key = UINT32_MAX;

/// Any thread may call. A run keeps the step from ending, and fails with it.
class step_frames {
public:
  explicit step_frames(task_instance& root) : root_(root) {}

  /// Runs the functions of a frame for a wait, which is answered when they have ended.
  void begin(task_instance& instance, uint32_t program, uint32_t wait, std::span<tensor> inputs,
             caf::execution_unit* unit);
  /// Handles a message of another task to a frame. Fails if the message breaks the protocol.
  status arrive(arrival&& message, caf::execution_unit* unit);
  /// Ends all runs, because the step has failed.
  void abort_all(caf::execution_unit* unit);
  /// The runs within the step; each may end at any time.
  std::vector<std::shared_ptr<task_instance>> running() const;
  /// Drops the times and early messages of a step that has ended.
  void reset() noexcept;

  task_instance& root() noexcept { return root_; }

  /// The memory account of runs on a device: the step's, or a separate one if only runs use the
  /// device.
  step_memory& account_on(device& which);
  /// Adds the memory that runs took on the devices that only they use.
  void add_memory(step_memory_statistics& to) const;
  /// Adds the times of the runs' nodes, if the step is profiled.
  void add_times(task_statistics& to) const { times_.collect(root_.program(), to); }

  // For runs:
  using run_id = std::pair<uint32_t, uint64_t>; // frame, and a number within the step
  /// Returns a number for the next run of a frame.
  run_id next_run(uint32_t frame) noexcept {
    return {frame, last_run_.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  /// Begins a step within the step. Returns false if the step has failed.
  bool begin_run(run_id run, const std::shared_ptr<task_instance>& instance,
                 const frame_iteration& iteration, step_observer& observer,
                 caf::execution_unit* unit);
  /// Notes that a run has ended. The step may have ended when this returns.
  void end_run(run_id run, const task_instance& instance) noexcept;
  /// Ends the activity of a run that begin_run() added to the step. The step may end now.
  void leave_step(caf::execution_unit* unit);
  /// Aborts a run that began while the step failed.
  void end_if_failed(task_instance& instance, caf::execution_unit* unit);

private:
  struct shared_run {
    std::shared_ptr<task_instance> instance; // null before the run begins
    std::set<uint32_t> received_keys;        // each key may come once
    std::vector<arrival> early;              // messages until the run begins
  };
  class guest;

  status begin_guest(const task_frame& frame, const arrival& request, caf::execution_unit* unit);

  task_instance& root_;
  std::atomic<uint64_t> last_run_{0};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<task_instance>> running_;
  std::map<run_id, shared_run> shared_runs_; // of frames of several tasks
  size_t early_bytes_ = 0;
  iteration_times times_;
  std::map<const device*, step_memory::owner> accounts_; // of devices that the step has no part on
};

} // namespace troupe
