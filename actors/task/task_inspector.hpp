// Shows a task to operators, as a tree and as metrics.
#pragma once
#include "troupe/actors/base/fwd.hpp"
#include "troupe/runtime/device/device.hpp"
#include "troupe/runtime/insight/inspection.hpp"
#include "troupe/runtime/insight/inspection_ref.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace troupe {

class cluster_view; // serialization/discovery/cluster_view.hpp
class resources;

/// Reads the tables of a task, each of which any thread may read. It needs no actor, so it can show
/// a task whose actors are busy or blocked. Any thread may call.
class task_inspector {
public:
  struct parts {
    std::string address; ///< where it listens
    std::shared_ptr<step_server> server;
    std::shared_ptr<resources> state;
    std::vector<std::shared_ptr<device>> devices;
    std::shared_ptr<const cluster_view> cluster; ///< the task's view of its cluster
  };
  explicit task_inspector(parts components);

  /// Returns the part of this task that a ref names, with its children as far as the scope goes.
  /// Fails with not_found if there is no such part.
  result<inspection> inspect(const inspection_ref& ref, const inspection_scope& scope) const;

  /// Returns the metrics in Prometheus' text format.
  std::string metrics() const;

private:
  const parts parts_;
  const inspection_ref self_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const std::chrono::system_clock::time_point began_at_ = std::chrono::system_clock::now();
  friend class tree;
};

} // namespace troupe
