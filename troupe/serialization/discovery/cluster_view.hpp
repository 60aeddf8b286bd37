// What a process knows of its cluster now, for those who only look.
#pragma once
#include "troupe/serialization/discovery/address_source.hpp"

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

private:
  mutable std::mutex mutex_;
  task_addresses now_;
};

} // namespace troupe
