// What a process knows of its cluster now, for those who only look.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

#include <memory>
#include <mutex>

namespace troupe {

/// Any thread may call.
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

  /// The list of a cluster that is joined, as this process knows it; elsewhere it is empty.
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
