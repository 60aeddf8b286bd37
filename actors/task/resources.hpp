// The named state of a task: variables, queues and all else that containers hold (white paper 4.7).
#pragma once
#include "troupe/actors/execution/file_threads.hpp"
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

  /// Returns the state that a node declares; creates it at the first call. `fallback` is the
  /// container of nodes that name none. Fails if the state was declared differently before.
  result<std::shared_ptr<named_state>> find(const node& maker, const std::string& fallback);
  /// As find(), for state that nodes wait for; returns its actor. The program keeps the state,
  /// because a reset may remove it from its container. For a node with long work, returns the
  /// task's long worker.
  result<caf::actor> find_waitable_resource(const node& maker, const std::string& fallback,
                                            task_program& program);
  /// Removes the contents of a container.
  void reset(const std::string& container);
  /// Describes the contents of all containers. `task` is this task.
  state_list list(const std::string& task) const;
  using states = std::vector<std::shared_ptr<named_state>>;
  /// Returns all state, by container.
  std::vector<std::pair<std::string, states>> all() const;
  /// Ends the current and later waits of all waitable resources with `cancelled`.
  void close();

private:
  result<caf::actor> find_long_worker();
  result<std::shared_ptr<named_state>> find_or_add(const std::string& container_name,
                                                   std::shared_ptr<named_state> declared);

  caf::actor_system& system_;
  const std::shared_ptr<file_threads> files_; // shared with waitable resources
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<container>> containers_;
  std::vector<caf::actor_addr> waitable_resources_;
  caf::actor long_worker_; // spawned at the first use
  bool closed_ = false;
};

} // namespace troupe
