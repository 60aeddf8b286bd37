#include "troupe/actors/execution/step_gate.hpp"

namespace troupe {

bool step_gate::enter(waiter& step) {
  if (limit_ == 0)
    return true;
  std::lock_guard guard{mutex_};
  if (running_ < limit_) {
    ++running_;
    return true;
  }
  queue_.push_back(&step);
  return false;
}

bool step_gate::withdraw(waiter& step) {
  std::lock_guard guard{mutex_};
  return std::erase(queue_, &step) > 0;
}

void step_gate::leave() {
  if (limit_ == 0)
    return;
  std::lock_guard guard{mutex_};
  if (queue_.empty()) {
    --running_;
    return;
  }
  auto* next = queue_.front(); // takes the slot of the step that leaves
  queue_.pop_front();
  next->admitted(); // with the lock held, so that it cannot withdraw and be destroyed meanwhile
}

size_t step_gate::waiting() const {
  std::lock_guard guard{mutex_};
  return queue_.size();
}

} // namespace troupe
