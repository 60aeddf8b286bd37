// Registers the steps of a session with the tasks that take part: the shell of a registration
// (runtime/cluster/registration.hpp).
#pragma once
#include "troupe/actors/base/deadlines.hpp"
#include "troupe/actors/base/stop_request.hpp"
#include "troupe/actors/session/client.hpp"
#include "troupe/actors/session/prepared_step.hpp"
#include "troupe/runtime/cluster/held_state.hpp"
#include "troupe/runtime/cluster/unreachable_tasks.hpp"
#include "troupe/runtime/insight/client_wait.hpp"

#include <caf/event_based_actor.hpp>

#include <list>
#include <map>
#include <set>

namespace troupe {

/// Finds the worker of a task, or the exchange to it, and its incarnation, which is 0 in this
/// process.
using worker_finder = std::function<void(const task_name&, step_clock::time_point deadline,
                                         std::function<void(result<peer_link>)>)>;

/// Moves steps away from lost tasks.
struct step_mover {
  /// Places a step again on the remaining tasks; gives null if the step needs a lost task.
  std::function<void(const std::shared_ptr<prepared_step>& step, step_clock::time_point deadline,
                     std::function<void(std::shared_ptr<prepared_step>)>)>
      place;
  /// Called once for each loss of a task that steps have left.
  std::function<void(const task_name&)> report_left;
};

/// Part of a master, on its thread.
class registrar {
public:
  using step_ptr = std::shared_ptr<prepared_step>;
  using on_ready = std::function<void(status)>;

  registrar(caf::event_based_actor* self, deadlines& due, worker_finder find, step_mover move,
            restore_hooks lost_state);

  /// The caller of ensure(): a run or a prepare request.
  struct requester {
    step_clock::time_point deadline;
    uint64_t acknowledged_loss = 0; ///< as in prepare_request: later losses fail it
    bool retried = false;           ///< as in prepare_request
    std::stop_token stop = {};
  };
  /// Calls `then` when all parts of the step are registered, or all parts of its replacement
  /// (current()). A step is registered once for all requesters. `then` is called at the requester's
  /// deadline at the latest, or soon after a stop request. A loss of state that only one requester
  /// learns of is never reported to a requester that has stopped.
  void ensure(const step_ptr& prepared, const requester& caller, on_ready then);
  /// Sets the positions at which kernels begin on tasks that are registered with from now on, where
  /// the kernels have not run there yet.
  void begin_at(kernel_positions positions) { positions_ = std::move(positions); }
  /// Notes that a step has failed because of a task on which it uses state, and that its error
  /// names the task.
  void note_reported(const task_name& task) { held_.note_reported(task); }
  /// Notes that a step has used state on the task and has succeeded.
  void note_used(const task_name& task) { held_.note_used(task); }
  /// Returns the tasks that could not be reached. Tries to reach them again, for later requests.
  std::set<task_name> lost_tasks();
  /// Sets the tasks that the cluster has now.
  void set_tasks(const std::vector<task_name>& tasks) { unreachable_.keep_only(tasks); }
  /// Returns the tasks for which requesters wait: not connected, or not yet registered.
  client_wait_list waits(step_clock::time_point now) const;
  /// Fails all waiting requesters.
  void close(const status& why);

private:
  struct waiter {
    requester caller;
    deadlines::key due;
    on_ready then;
    std::shared_ptr<stop_request> stop = {};
  };
  static bool is_retried(const waiter& waiting) { return waiting.caller.retried; }
  // One registration of a step, until it has succeeded or failed.
  struct attempt {
    step_ptr step;
    std::list<waiter> waiting;
    size_t links_missing = 0;
    std::set<size_t> unlinked; // parts
    step_clock::time_point since;
    std::vector<size_t> parts;
    std::vector<size_t> missed; // parts whose tasks are lost
    bool moves = false;         // the step is being placed again
    // Set when a placement without the lost tasks has failed: wait for them until this time.
    step_clock::time_point stays_until = step_clock::time_point::min();
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void begin(const attempt_ptr& registering);
  void find_worker(const attempt_ptr& registering, size_t part, uint64_t number);
  void leave_task(const attempt_ptr& registering, size_t part, uint64_t number);
  void place_again(const attempt_ptr& registering, uint64_t number);
  void check_tasks_of(const attempt_ptr& registering, const step_ptr& moved, uint64_t number);
  void move_to(const attempt_ptr& registering, const step_ptr& moved);
  void register_parts(const attempt_ptr& registering, uint64_t number);
  bool has_lost_state(const attempt_ptr& registering, uint64_t number);
  status check_restored(const prepared_step& step, uint64_t acknowledged_loss);
  bool dismiss_unrestored(const attempt_ptr& registering);
  static status with_task(const attempt_ptr& registering, size_t part, status why);
  static step_clock::time_point latest_deadline(const attempt& registering);
  void register_part(const attempt_ptr& registering, size_t part, uint64_t number);
  void follow(const attempt_ptr& registering, registration::next action);
  void time_out(const attempt_ptr& registering, std::list<waiter>::iterator waiting);
  void dismiss(const attempt_ptr& registering, std::list<waiter>::iterator waiting, status why);
  attempt_ptr find(const prepared_step& step) const;
  void end(const attempt_ptr& registering, const status& outcome);

  caf::event_based_actor* self_;
  deadlines& due_;
  worker_finder find_;
  step_mover move_;
  const restore_hooks lost_state_;
  held_state held_;
  std::map<task_name, uint64_t> unrestored_; // losses that may not be restored yet, by number
  uint64_t losses_ = 0;                      // for which restore_hooks::on_state_lost returned true
  unreachable_tasks unreachable_;
  std::set<task_name> reconnecting_; // lost tasks to which a connection is being tried
  kernel_positions positions_;
  std::list<attempt_ptr> attempts_; // in the order in which they began
};

} // namespace troupe
