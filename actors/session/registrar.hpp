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

/// Finds the worker of a task, or an exchange in its place, and its incarnation; 0 in this process.
using worker_finder = std::function<void(const task_name&, step_clock::time_point deadline,
                                         std::function<void(result<peer_link>)>)>;

/// How steps get away from lost tasks.
struct step_mover {
  /// Places a step again among other tasks; gives nothing where it needs one that is lost.
  std::function<void(const std::shared_ptr<prepared_step>& step, step_clock::time_point deadline,
                     std::function<void(std::shared_ptr<prepared_step>)>)>
      place;
  /// Steps leave that task; told once for each loss.
  std::function<void(const task_name&)> tell;
};

/// Part of a master, on its thread.
class registrar {
public:
  using step_ptr = std::shared_ptr<prepared_step>;
  using on_ready = std::function<void(status)>;

  registrar(caf::event_based_actor* self, deadlines& due, worker_finder find, step_mover move,
            restore_hooks lost_state);

  struct asker {
    step_clock::time_point deadline;
    uint64_t knows = 0;   ///< as in prepare_request: of what is lost since, it fails
    bool retried = false; ///< as there
    std::stop_token stop = {};
  };
  /// Calls `then` when all parts of the step are registered, or of what takes its place
  /// (current()), which happens once for all who ask; at the deadline of each at the latest, or
  /// soon after it is asked to stop. What is told to nobody else is not told to who has stopped.
  void ensure(const step_ptr& step, const asker& who, on_ready then);
  /// Kernels that have not run on a task begin there, if it is registered with from now on.
  void begin_at(kernel_positions positions) { positions_ = std::move(positions); }
  /// A step has failed because of a task on which it uses state, and says so.
  void told(const task_name& task) { held_.tell(task); }
  /// A step has used state there, and ended well.
  void reached(const task_name& task) { held_.reach(task); }
  /// Tasks that were looked for and are not there. Looks again, for those who ask later.
  std::set<task_name> lost_tasks();
  /// The cluster has these tasks now, and no others.
  void tasks_are(const std::vector<task_name>& those) { unreachable_.keep_only(those); }
  /// What those who wait, wait for: tasks that are not connected, or do not register.
  client_wait_list waits(step_clock::time_point now) const;
  /// Answers all who wait.
  void close(const status& why);

private:
  struct waiter {
    asker who;
    deadlines::key due;
    on_ready then;
    std::shared_ptr<stop_request> stop = {};
  };
  static bool is_retried(const waiter& one) { return one.who.retried; }
  struct attempt {
    step_ptr step;
    std::list<waiter> waiting;
    size_t links_missing = 0;
    std::set<size_t> unlinked; // parts
    step_clock::time_point since;
    std::vector<size_t> parts;
    std::vector<size_t> missed; // parts whose tasks are lost
    bool moves = false;         // it is being placed again
    step_clock::time_point stays_until = step_clock::time_point::min(); // it could not be
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void begin(const attempt_ptr& at);
  void find_worker(const attempt_ptr& at, size_t part, uint64_t number);
  void leave(const attempt_ptr& at, size_t part, uint64_t number);
  void place_again(const attempt_ptr& at, uint64_t number);
  void look_at(const attempt_ptr& at, const step_ptr& moved, uint64_t number);
  void become(const attempt_ptr& at, const step_ptr& moved);
  void register_parts(const attempt_ptr& at, uint64_t number);
  bool has_lost_state(const attempt_ptr& at, uint64_t number);
  status unrestored(const prepared_step& step, uint64_t knows);
  bool turn_away(const attempt_ptr& at);
  static status naming(const attempt_ptr& at, size_t part, status why);
  static step_clock::time_point latest(const attempt& of);
  void register_part(const attempt_ptr& at, size_t part, uint64_t number);
  void follow(const attempt_ptr& at, registration::next what);
  void lose_patience(const attempt_ptr& at, std::list<waiter>::iterator who);
  void dismiss(const attempt_ptr& at, std::list<waiter>::iterator who, status why);
  attempt_ptr find(const prepared_step& step) const;
  void end(const attempt_ptr& at, const status& how);

  caf::event_based_actor* self_;
  deadlines& due_;
  worker_finder find_;
  step_mover move_;
  const restore_hooks lost_state_;
  held_state held_;
  std::map<task_name, uint64_t> unrestored_; // what was lost, and may be still to be restored
  uint64_t losses_ = 0;                      // that somebody restores
  unreachable_tasks unreachable_;
  std::set<task_name> looking_; // whether they are back
  kernel_positions positions_;
  std::list<attempt_ptr> under_way_; // in the order in which they began
};

} // namespace troupe
