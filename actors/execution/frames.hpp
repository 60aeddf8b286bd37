// The frames of one step on one task: functions that run as steps within the step, each on
// instances of its own (docs/decisions/051). A frame is owned by the task that its node lies on;
// other tasks take part in it as guests, told by one tensor_push for each run of a function.
#pragma once
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/actors/execution/turn_times.hpp"
#include "troupe/runtime/cluster/rendezvous.hpp"

#include <map>
#include <mutex>
#include <set>

namespace troupe {

/// What a tensor_push has as its key that begins a run of a frame's function, whose number it
/// carries.
constexpr uint32_t begin_run_key = UINT32_MAX;

/// Any thread may call. All that it runs keeps the step from ending, and fails with it.
class step_frames {
public:
  explicit step_frames(task_instance& root) : root_(root) {}

  /// Runs the functions of a frame for a wait, which is answered when they have run.
  void begin(task_instance& in, uint32_t program, uint32_t wait, std::span<tensor> inputs,
             caf::execution_unit* unit);
  /// Takes what another task sends to a frame. Fails for what no task of good will sends.
  status arrive(arrival&& what, caf::execution_unit* unit);
  /// The step has failed: nothing of it runs on.
  void abort_all(caf::execution_unit* unit);
  /// What runs within the step now; each may end at any time.
  std::vector<std::shared_ptr<task_instance>> running() const;
  /// Forgets what was left of a step that has ended.
  void reset() noexcept;

  task_instance& root() noexcept { return root_; }

  /// Where runs have their memory from: the step's account, or one for a device that only runs use.
  step_memory& account_on(device& which);
  /// What they took on such devices.
  void add_memory(step_memory_statistics& to) const;
  /// What their nodes took, if the step notes that down.
  void add_times(task_statistics& to) const { times_.collect(root_.program(), to); }

  // For runs:
  using run_id = std::pair<uint32_t, uint64_t>; // frame, and a number within the step
  /// A number for the next run of a frame.
  run_id next_run(uint32_t frame) noexcept {
    return {frame, last_run_.fetch_add(1, std::memory_order_relaxed) + 1};
  }
  /// Begins a step within the step. False where the step has failed.
  bool begin_run(run_id run, const std::shared_ptr<task_instance>& in, const frame_turn& as,
                 step_observer& observer, caf::execution_unit* unit);
  /// It has ended. The step may be over when this returns.
  void end_run(run_id run, const task_instance& in) noexcept;
  void leave_step(caf::execution_unit* unit);
  /// Ends a run that has begun while the step failed.
  void end_if_failed(task_instance& in, caf::execution_unit* unit);

private:
  struct visit {
    std::shared_ptr<task_instance> in; // once it has begun
    std::set<uint32_t> came;           // keys
    std::vector<arrival> early;        // until then
  };
  class guest;

  status begin_guest(const task_frame& what, const arrival& order, caf::execution_unit* unit);

  task_instance& root_;
  std::atomic<uint64_t> last_run_{0};
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<task_instance>> running_;
  std::map<run_id, visit> visits_; // of frames that several tasks run
  size_t early_bytes_ = 0;
  turn_times times_;
  std::map<const device*, step_memory::owner> accounts_; // of devices that the step has no part on
};

} // namespace troupe
