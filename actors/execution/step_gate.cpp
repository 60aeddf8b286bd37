#include "troupe/actors/execution/step_gate.hpp"

namespace troupe {

bool step_gate::enter(waiter& who) {
  if (most_ == 0)
    return true;
  std::lock_guard guard{mutex_};
  if (inside_ < most_) {
    ++inside_;
    return true;
  }
  line_.push_back(&who);
  return false;
}

bool step_gate::withdraw(waiter& who) {
  std::lock_guard guard{mutex_};
  return std::erase(line_, &who) > 0;
}

void step_gate::leave() {
  if (most_ == 0)
    return;
  std::lock_guard guard{mutex_};
  if (line_.empty()) {
    --inside_;
    return;
  }
  auto* next = line_.front(); // takes the place of the one that leaves
  line_.pop_front();
  next->let_in(); // under the lock: it cannot withdraw and go meanwhile
}

size_t step_gate::waiting() const {
  std::lock_guard guard{mutex_};
  return line_.size();
}

} // namespace troupe
