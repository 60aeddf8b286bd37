#include "troupe/devices/gpu/core/completion_queue.hpp"

#include <utility>

namespace troupe::gpu {

void completion_queue::push(completion added) {
  std::lock_guard guard{mutex_};
  queue_.push_back(std::move(added));
  changed_.notify_one();
}

// With the lock, so that the thread does not miss the change between its check and its sleep.
void completion_queue::wake() {
  std::lock_guard guard{mutex_};
  changed_.notify_one();
}

void completion_queue::stop() {
  std::lock_guard guard{mutex_};
  if (!stopped_at_)
    stopped_at_ = std::chrono::steady_clock::now();
  changed_.notify_one();
}

bool completion_queue::has_stopped_for(std::chrono::nanoseconds time) const {
  std::lock_guard guard{mutex_};
  return stopped_at_ && std::chrono::steady_clock::now() - *stopped_at_ > time;
}

completion_queue::work completion_queue::wait(completion& next,
                                              std::chrono::milliseconds idle_after) {
  std::unique_lock guard{mutex_};
  auto has_work = [&] { return stopped_at_ || !queue_.empty() || loss_.has_report(); };
  if (idle_after.count() == 0)
    changed_.wait(guard, has_work);
  else if (!changed_.wait_for(guard, idle_after, has_work))
    return work::idle;
  if (loss_.has_report())
    return work::report;
  if (queue_.empty())
    return work::none;
  next = std::move(queue_.front());
  queue_.pop_front();
  return work::completion;
}

} // namespace troupe::gpu
