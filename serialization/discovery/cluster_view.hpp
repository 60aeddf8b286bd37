// The current addresses and members of a cluster, for threads that only read them.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <memory>
#include <mutex>

namespace troupe {

/// Thread-safe.
class cluster_view {
public:
  explicit cluster_view(task_addresses first) : now_(std::move(first)) {}

  task_addresses now() const {
    std::lock_guard guard{mutex_};
    return now_;
  }
  void set(task_addresses now) {
    std::lock_guard guard{mutex_};
    now_ = std::move(now);
  }

  /// The members of a joined cluster, as this process knows them; otherwise empty.
  std::shared_ptr<const member_list> members() const {
    std::lock_guard guard{mutex_};
    return members_;
  }
  void set(std::shared_ptr<const member_list> members) {
    std::lock_guard guard{mutex_};
    members_ = std::move(members);
  }

private:
  mutable std::mutex mutex_;
  task_addresses now_;
  std::shared_ptr<const member_list> members_ = std::make_shared<member_list>();
};

} // namespace troupe
