// The named state of a task: variables, queues and whatever else containers hold (white paper 4.7).
#pragma once
#include "troupe/actors/execution/input_threads.hpp"
#include "troupe/actors/execution/task_program.hpp"
#include "troupe/runtime/state/variable.hpp"

#include <map>
#include <mutex>

namespace troupe {

/// Any thread may call.
class resources {
public:
  explicit resources(caf::actor_system& system);
  ~resources();

  /// Finds what a node makes, or makes it at first sight. `fallback` is the container of nodes that
  /// name none. Fails where it was declared otherwise.
  result<std::shared_ptr<named_state>> find(const node& maker, const std::string& fallback);
  /// The same for what nodes wait for; gives its actor. The program keeps the state, which may be
  /// that of a container before a reset. For a node whose work is long it is the task's long
  /// worker.
  result<caf::actor> find_responder(const node& maker, const std::string& fallback,
                                    task_program& program);
  /// Forgets what a container holds.
  void reset(const std::string& container);
  /// What all containers hold. `task` is ours.
  state_list list(const std::string& task) const;
  using states = std::vector<std::shared_ptr<named_state>>;
  /// All that there is, by container.
  std::vector<std::pair<std::string, states>> all() const;
  /// Has all that nodes wait for answer, with an error.
  void close();

private:
  result<caf::actor> find_long_worker();
  result<std::shared_ptr<named_state>> find_or_add(const std::string& held_by,
                                                   std::shared_ptr<named_state> declared);

  caf::actor_system& system_;
  std::shared_ptr<input_threads> input_; // with those that answer
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<container>> containers_;
  std::vector<caf::actor_addr> responders_;
  caf::actor long_worker_; // made when first wanted
  bool closed_ = false;
};

} // namespace troupe
