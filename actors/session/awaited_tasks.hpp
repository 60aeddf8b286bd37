// Steps that wait for tasks which the cluster does not have yet, where tasks join and leave.
#pragma once
#include "troupe/actors/base/deadlines.hpp"
#include "troupe/runtime/insight/client_wait.hpp"
#include "troupe/runtime/placement/place.hpp"

#include <caf/event_based_actor.hpp>

#include <functional>
#include <list>
#include <vector>

namespace troupe {

class graph;
struct master_options;

/// Replaces the list by the devices of these tasks. Known devices of remaining tasks are kept; a
/// new task gets its CPU. Workers come first, so that nodes without a device run there and not on
/// parameter servers.
void take_tasks(device_list& devices, const std::vector<task_name>& tasks);

/// Part of a master, on its thread.
class awaited_tasks {
public:
  awaited_tasks(caf::event_based_actor* self, deadlines& due, const master_options& options)
      : self_(self), due_(due), options_(options) {}

  /// Calls `then` when at least one task is known and each device that the nodes request is on a
  /// known task, but shortly before the deadline at the latest. Calls it before returning if there
  /// is nothing to wait for: the tasks are known, the cluster does not change, or a node requests a
  /// job that the cluster will never have.
  void wait_for(const graph& nodes, step_clock::time_point deadline, std::function<void()> then);
  /// The same for the named tasks. The names have no device kind and no ordinal.
  void wait_for(std::vector<device_name> wanted, step_clock::time_point deadline,
                std::function<void()> then);
  /// Calls back for the requests whose tasks are known now.
  void check();
  /// Returns the missing tasks, for operators.
  client_wait_list waits() const;

private:
  struct waiter {
    std::vector<device_name> wanted;
    std::function<void()> then;
    deadlines::key due = {};
    step_clock::time_point since = {};
  };
  bool all_known(const std::vector<device_name>& wanted) const;
  bool is_hopeless(const std::vector<device_name>& wanted) const;

  caf::event_based_actor* self_;
  deadlines& due_;
  const master_options& options_;
  std::list<waiter> waiting_;
};

} // namespace troupe
