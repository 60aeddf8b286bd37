// Serves operators of a task over HTTP: /healthz, /readyz, /metrics, /v1/node/<ref>.
#pragma once
#include "troupe/actors/network/http_server.hpp"
#include "troupe/actors/operator/inspect_tasks.hpp"
#include "troupe/actors/task/task_inspector.hpp"
#include "troupe/serialization/discovery/cluster_view.hpp"

namespace troupe {

/// Closes the port when it is destroyed.
class operator_port {
public:
  struct parts {
    task_name self;
    std::shared_ptr<const cluster_view> cluster;
    std::shared_ptr<const task_inspector> inspector;
    /// Inspects other tasks, as inspect_tasks() does.
    std::function<void(tasks_question, std::function<void(task_inspections)>)> inspect_others;
    /// Returns why the task accepts no steps; empty: it accepts them. Any thread.
    std::function<std::string()> readiness_error;
    /// Has an actor that the task needs call a function, to check that it handles messages. Any
    /// thread.
    std::function<void(std::function<void()>)> check_health;
  };

  /// Fails if the address cannot be listened at.
  static result<std::unique_ptr<operator_port>> open(const address& listen_address, parts task,
                                                     const http_limits& limits = {});
  virtual ~operator_port() = default;
  virtual uint16_t port() const noexcept = 0;
};

} // namespace troupe
