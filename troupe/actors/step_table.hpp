// The steps that run on a task, by id, for what reaches them from other tasks.
#pragma once
#include "troupe/actors/task_program.hpp"

#include <deque>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace troupe {

/// Any thread may call. Tensors may come before their step; they are kept for a while.
class step_table {
public:
  /// Says why a step must not begin: it was cancelled before it came, a tensor that came before it
  /// found no room, its id is in use, or the task shuts down. What is known of it is then
  /// forgotten.
  status may_begin(uint64_t step);
  /// Makes a step that has begun known, with what has come for it already. Fails when it was
  /// cancelled before it came, when a tensor that came before it found no room, or when its id is
  /// in use.
  status add(uint64_t step, const std::shared_ptr<task_instance>& in, caf::execution_unit* unit,
             step_clock::time_point deadline = step_clock::time_point::max());
  /// Forgets an ended step; what still comes for it is dropped.
  void remove(uint64_t step);
  /// Brings a tensor to its region. One that comes before its step is kept; where there is no room
  /// for it, its step fails when it comes, with resource_exhausted.
  void push(tensor_push&& what, caf::execution_unit* unit);
  /// Fails a step, also one that has not come yet.
  void abort(uint64_t step, status why, caf::execution_unit* unit);
  /// Fails the steps whose deadlines have passed.
  void expire(step_clock::time_point now, const task_name& self, caf::execution_unit* unit);
  /// Fails all steps that exchange tensors with that task.
  void abort_all(const std::string& partner, const status& why, caf::execution_unit* unit);
  /// Fails all steps of that program.
  void abort_all(const task_program& of, const status& why, caf::execution_unit* unit);
  /// Fails all steps, and those that come later.
  void close(const status& why, caf::execution_unit* unit);
  size_t size() const;

private:
  struct early {
    std::vector<tensor_push> pushes;
    step_clock::time_point since;
    status cancelled;
  };

  struct running {
    std::shared_ptr<task_instance> in;
    std::unordered_set<uint32_t> came; // keys: each tensor counts once
    step_clock::time_point deadline;
  };

  template <class Predicate>
  void abort_if(Predicate hit, const status& why, caf::execution_unit* unit);
  status refusal_forgotten(uint64_t step) const;
  early take_early(uint64_t step);
  void end(uint64_t step);
  void forget_old_early();
  void push_early(tensor_push&& what);
  void refuse_early(uint64_t step, status why);
  static void deliver_push(task_instance& in, tensor_push&& what, caf::execution_unit* unit);

  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, running> running_;
  std::unordered_map<uint64_t, early> early_;
  size_t early_bytes_ = 0;
  size_t early_pushes_ = 0;       // steps in early_ that hold tensors
  step_clock::time_point aged_{}; // when old entries of early_ were last looked for
  std::optional<step_clock::time_point> forgot_refusal_; // early_ had no room for one
  std::unordered_set<uint64_t> ended_;
  std::deque<uint64_t> ended_order_;
  status closed_;
};

} // namespace troupe
