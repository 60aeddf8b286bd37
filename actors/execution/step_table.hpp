// The running steps of a task, as receivers of messages from other tasks: a rendezvous
// (runtime/cluster/rendezvous.hpp) whose steps are instances.
#pragma once
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/cluster/rendezvous.hpp"

#include <caf/actor_addr.hpp>

#include <functional>
#include <mutex>

namespace troupe {

/// Any thread may call. Tensors that come before their step are kept for a limited time.
class step_table {
public:
  using clock = std::function<step_clock::time_point()>;

  explicit step_table(clock now = step_clock::now) : now_(std::move(now)) {}

  /// Announces a step that is about to begin. Fails if the step must not begin: it was cancelled
  /// before, had no room for an early tensor, or has run already.
  status admit(step_id step);
  /// Delivers the early tensors of a step that has begun. Fails if the step must end at once.
  status deliver_early_tensors(step_id step, const std::shared_ptr<task_instance>& instance,
                               caf::execution_unit* unit,
                               step_clock::time_point deadline = step_clock::time_point::max());
  /// Removes an ended step; later messages for it are dropped.
  void end(step_id step, bool failed = false);

  /// Returns whether announced tensors of a step are to be fetched. The exchange gets step_news
  /// when that may have changed.
  fetch_decision expect(step_id step, const caf::actor_addr& exchange);
  /// Notes that an exchange will announce tensors of a running step: it gets step_news if the step
  /// fails.
  void watch(step_id step, const caf::actor_addr& exchange);
  /// Delivers a tensor to its region. A tensor that comes before its step is kept. If there is no
  /// room for it, the step fails with resource_exhausted when it begins.
  void deliver(tensor_push&& message, caf::execution_unit* unit);
  /// Fails a step, even if it has not begun yet.
  void abort(step_id step, status why, caf::execution_unit* unit);
  /// Fails a step that has begun; returns false if it has not.
  bool abort_if_begun(step_id step, status why, caf::execution_unit* unit);
  /// Fails the steps whose deadlines have passed, and drops the tensors of steps that never began.
  void expire(step_clock::time_point now, const task_name& self, caf::execution_unit* unit);
  /// Fails all steps that exchange tensors with that incarnation of a task.
  void abort_all(const std::string& partner, uint64_t incarnation, const status& why,
                 caf::execution_unit* unit);
  /// Fails all steps of that program.
  void abort_all(const task_program& program, const status& why, caf::execution_unit* unit);
  /// Fails all steps, and all later ones.
  void close(const status& why, caf::execution_unit* unit);
  size_t size() const; ///< of the running steps
  struct table_sizes {
    size_t running = 0;
    size_t early_steps = 0, early_bytes = 0; ///< of steps that have not begun
  };
  table_sizes sizes() const;
  struct running_step {
    step_id id;
    std::shared_ptr<task_instance> instance;
    step_clock::time_point deadline;
  };
  /// Returns the running steps; each may end at any time (conductor_actor::act_for).
  std::vector<running_step> running() const;
  bool idle() const; ///< no running steps, no early tensors

private:
  using watchers = std::vector<caf::actor_addr>; // exchanges

  void note_watcher(step_id step, const caf::actor_addr& exchange);
  watchers watchers_of(step_id step);
  static void notify(const watchers& exchanges, step_id step, bool failed);
  template <class Predicate>
  void abort_if(Predicate matches, const status& why, caf::execution_unit* unit);

  const clock now_;
  mutable std::mutex mutex_;
  rendezvous<std::shared_ptr<task_instance>> steps_;
  // The exchanges that have announced tensors of a step, or to which tensors are announced.
  std::unordered_map<step_id, watchers> watchers_;
};

} // namespace troupe
