// What a task tells operators over HTTP: /healthz, /readyz, /metrics, /v1/node/<ref>.
#pragma once
#include "troupe/actors/network/http_server.hpp"
#include "troupe/actors/operator/inspect_tasks.hpp"
#include "troupe/actors/task/task_inspector.hpp"
#include "troupe/serialization/discovery/cluster_view.hpp"

namespace troupe {

class operator_port {
public:
  struct parts {
    task_name self;
    std::shared_ptr<const cluster_view> cluster;
    std::shared_ptr<const task_inspector> inspector;
    /// Asks other tasks, as inspect_tasks() does.
    std::function<void(tasks_question, std::function<void(task_inspections)>)> ask_others;
    /// Empty when the task takes steps; else why not.
    std::function<std::string()> why_not_ready;
    /// Has an actor that the task cannot do without call that function, on any thread.
    std::function<void(std::function<void()>)> knock;
  };

  static result<std::unique_ptr<operator_port>> open(const address& at, parts of,
                                                     const http_limits& limits = {});
  virtual ~operator_port() = default;
  virtual uint16_t port() const noexcept = 0;
};

} // namespace troupe
