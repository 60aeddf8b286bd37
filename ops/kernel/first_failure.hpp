// Failures inside parallel loops: the failure of the least index is reported, independent of the
// number of threads.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <mutex>

namespace troupe::ops {

/// Each range of a loop records its first failure and then ends.
class first_failure {
public:
  void note(int64_t index, status failure_status) {
    std::lock_guard guard{mutex_};
    if (!first_failure_.ok() && index_ < index)
      return;
    index_ = index;
    first_failure_ = std::move(failure_status);
  }
  status take() { return std::move(first_failure_); }

private:
  std::mutex mutex_;
  int64_t index_ = 0;
  status first_failure_;
};

} // namespace troupe::ops
