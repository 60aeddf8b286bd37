// The steps that run on a task, for what reaches them from other tasks: a rendezvous
// (runtime/cluster/rendezvous.hpp) whose steps are instances.
#pragma once
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/cluster/rendezvous.hpp"

#include <caf/actor_addr.hpp>

#include <functional>
#include <mutex>

namespace troupe {

/// Any thread may call. Tensors may come before their step; they are kept for a while.
class step_table {
public:
  using clock = std::function<step_clock::time_point()>;

  explicit step_table(clock now = step_clock::now) : now_(std::move(now)) {}

  /// Says why a step must not begin; what is known of it is then forgotten.
  status announce(step_id step);
  /// Hands a step that has begun what has come for it already. Fails when it must end at once.
  status attach(step_id step, const std::shared_ptr<task_instance>& in, caf::execution_unit* unit,
                step_clock::time_point deadline = step_clock::time_point::max());
  /// Forgets an ended step; what still comes for it is dropped.
  void end(step_id step, bool failed = false);

  /// Whether tensors that an exchange has been announced for a step are wanted. It is told when
  /// that may have changed, with step_news.
  demand expect(step_id step, const caf::actor_addr& exchange);
  /// An exchange is to announce tensors of a running step: it is told when that fails.
  void watch(step_id step, const caf::actor_addr& exchange);
  /// Brings a tensor to its region. One that comes before its step is kept; where there is no room
  /// for it, its step fails when it comes, with resource_exhausted.
  void push(tensor_push&& what, caf::execution_unit* unit);
  /// Fails a step, also one that has not come yet.
  void abort(step_id step, status why, caf::execution_unit* unit);
  /// Fails a step that has come; returns false where it has not.
  bool abort_if_come(step_id step, status why, caf::execution_unit* unit);
  /// Fails the steps whose deadlines have passed, and forgets what came for steps that never did.
  void expire(step_clock::time_point now, const task_name& self, caf::execution_unit* unit);
  /// Fails all steps that exchange tensors with that incarnation of a task.
  void abort_all(const std::string& partner, uint64_t incarnation, const status& why,
                 caf::execution_unit* unit);
  /// Fails all steps of that program.
  void abort_all(const task_program& of, const status& why, caf::execution_unit* unit);
  /// Fails all steps, and those that come later.
  void close(const status& why, caf::execution_unit* unit);
  size_t size() const; ///< steps that run
  struct table_sizes {
    size_t running = 0;
    size_t early_steps = 0, early_bytes = 0; ///< what has come for steps that have not
  };
  table_sizes sizes() const;
  struct running_step {
    step_id id;
    std::shared_ptr<task_instance> in;
    step_clock::time_point deadline;
  };
  /// Those that run; each may end at any time (conductor_actor::act_for).
  std::vector<running_step> running() const;
  bool idle() const; ///< none, and nothing has come for others

private:
  using watchers = std::vector<caf::actor_addr>; // exchanges

  void note_watcher(step_id step, const caf::actor_addr& exchange);
  watchers watchers_of(step_id step);
  static void tell(const watchers& those, step_id step, bool failed);
  template <class Predicate>
  void abort_if(Predicate hit, const status& why, caf::execution_unit* unit);

  const clock now_;
  mutable std::mutex mutex_;
  rendezvous<std::shared_ptr<task_instance>> steps_;
  // That have announced tensors of a step, or have been announced some.
  std::unordered_map<step_id, watchers> watchers_;
};

} // namespace troupe
