// Steps wait for tasks that the cluster does not have yet, where tasks come and go.
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

/// Makes the list that of these tasks: what is known of one that was there stays, and of a new one
/// its processor. Workers come first: nodes that do not care go to them, not to parameter servers.
void take_tasks(device_list& devices, const std::vector<task_name>& tasks);

/// Part of a master, on its thread.
class awaited_tasks {
public:
  awaited_tasks(caf::event_based_actor* self, deadlines& due, const master_options& options)
      : self_(self), due_(due), options_(options) {}

  /// Calls `then` when each device that the graph's nodes ask for is on a task that is known, and
  /// any task is; at the deadline at the latest. At once where nothing changes, or where a node
  /// asks for a job that there will never be.
  void wait_for(const graph& of, step_clock::time_point deadline, std::function<void()> then);
  /// The same for these tasks: names without a kind and a number of devices.
  void wait_for(std::vector<device_name> wanted, step_clock::time_point deadline,
                std::function<void()> then);
  /// Tasks have come.
  void look();
  /// What is waited for, as operators are told.
  client_wait_list waits() const;

private:
  struct waiter {
    std::vector<device_name> wanted;
    std::function<void()> then;
    deadlines::key due = {};
    step_clock::time_point since = {};
  };
  bool all_there(const std::vector<device_name>& wanted) const;
  bool is_hopeless(const std::vector<device_name>& wanted) const;

  caf::event_based_actor* self_;
  deadlines& due_;
  const master_options& options_;
  std::list<waiter> waiting_;
};

} // namespace troupe
