// Steps whose part on this task has succeeded, and that took elements which are put back if another
// part fails. The requester of the step reports its outcome; the end of its connection means that
// the step has failed.
#pragma once
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/actors/execution/task_program.hpp"

#include <mutex>
#include <unordered_map>

namespace troupe {

/// Any thread may call. Each step counts in its connection's `running`, which limits them.
class unsettled_steps {
public:
  using program_ptr = std::shared_ptr<task_program>;

  ~unsettled_steps() { close(); }

  /// Keeps a step until it is settled. If its owner is gone, the step has failed.
  void add(step_id step, program_ptr program, connection_ptr owner);
  /// Consumes or puts back the elements that a step took. Returns whether the step was kept here.
  bool settle(step_id step, bool failed);
  /// Fails all steps of an owner whose connection has ended, because it cannot settle them.
  void lose(const peer_connection& owner);
  /// Drops all steps, and keeps none from now on.
  void close();
  size_t size() const;

private:
  struct unsettled_step {
    program_ptr program;
    connection_ptr owner;
  };
  static void settle_waitable_resources(step_id step, const unsettled_step& kept, bool failed);

  mutable std::mutex mutex_;
  std::unordered_map<step_id, unsettled_step> steps_;
  bool closed_ = false;
};

} // namespace troupe
