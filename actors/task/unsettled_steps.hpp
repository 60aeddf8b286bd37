// Steps whose part on this task has ended well, and was given something that goes back if another
// part fails: whoever asked for the step says how it has ended, or is gone.
#pragma once
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/actors/execution/task_program.hpp"

#include <mutex>
#include <unordered_map>

namespace troupe {

/// Any thread may call. Each counts among its connection's `running`, which bounds them.
class unsettled_steps {
public:
  using program_ptr = std::shared_ptr<task_program>;

  ~unsettled_steps() { close(); }

  /// Keeps a step until it is settled. Where its owner is gone, it has failed.
  void add(step_id step, program_ptr program, connection_ptr owner);
  /// What it took is spent, or goes back. Says whether there was such a step.
  bool settle(step_id step, bool failed);
  /// The owner, who is `gone`, will not say how its steps have ended: they have failed.
  void lose(const peer_connection& owner);
  /// Nothing is kept any more.
  void close();
  size_t size() const;

private:
  struct one {
    program_ptr program;
    connection_ptr owner;
  };
  static void tell(step_id step, const one& of, bool failed);

  mutable std::mutex mutex_;
  std::unordered_map<step_id, one> steps_;
  bool closed_ = false;
};

} // namespace troupe
