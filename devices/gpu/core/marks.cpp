#include "troupe/devices/gpu/core/marks.hpp"

namespace troupe::gpu {

result<event> mark_list::set(driver& owner, stream in) {
  last_passed(owner);
  if (idle_.empty()) {
    TROUPE_ASSIGN(auto fresh, owner.make_event());
    idle_.push_back(fresh);
  }
  auto mark_event = idle_.back();
  TROUPE_TRY(owner.record(mark_event, in));
  idle_.pop_back();
  ahead_.push_back({next_++, mark_event});
  return mark_event;
}

uint64_t mark_list::last_passed(driver& owner) {
  while (!ahead_.empty()) {
    auto has_passed = owner.passed(ahead_.front().mark_event);
    if (!has_passed || !*has_passed)
      break;
    passed_ = ahead_.front().number;
    idle_.push_back(ahead_.front().mark_event);
    ahead_.pop_front();
  }
  return passed_;
}

event mark_list::pending_event(driver& owner, uint64_t number) {
  if (number <= last_passed(owner) || ahead_.empty())
    return nullptr;
  return ahead_[static_cast<size_t>(number - ahead_.front().number)].mark_event;
}

void mark_list::destroy(driver& owner) noexcept {
  for (const auto& pending : ahead_)
    owner.destroy(pending.mark_event);
  for (auto idle : idle_)
    owner.destroy(idle);
  ahead_.clear();
  idle_.clear();
}

} // namespace troupe::gpu
