// Failures inside of parallel loops: the one of the least index is reported, however many threads
// there are.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <cstdint>
#include <mutex>

namespace troupe::ops {

/// Each range of a loop notes its first failure, and ends.
class first_failure {
public:
  void note(int64_t index, status why) {
    std::lock_guard guard{mutex_};
    if (!what_.ok() && index_ < index)
      return;
    index_ = index;
    what_ = std::move(why);
  }
  status take() { return std::move(what_); }

private:
  std::mutex mutex_;
  int64_t index_ = 0;
  status what_;
};

} // namespace troupe::ops
