#include "troupe/devices/gpu/core/marks.hpp"

namespace troupe::gpu {

result<event> mark_list::set(driver& on, stream in) {
  passed(on);
  if (idle_.empty()) {
    TROUPE_ASSIGN(auto fresh, on.make_event());
    idle_.push_back(fresh);
  }
  auto at = idle_.back();
  TROUPE_TRY(on.record(at, in));
  idle_.pop_back();
  ahead_.push_back({next_++, at});
  return at;
}

uint64_t mark_list::passed(driver& on) {
  while (!ahead_.empty()) {
    auto behind = on.passed(ahead_.front().at);
    if (!behind || !*behind)
      break;
    passed_ = ahead_.front().number;
    idle_.push_back(ahead_.front().at);
    ahead_.pop_front();
  }
  return passed_;
}

event mark_list::ahead(driver& on, uint64_t number) {
  if (number <= passed(on) || ahead_.empty())
    return nullptr;
  return ahead_[static_cast<size_t>(number - ahead_.front().number)].at;
}

void mark_list::destroy(driver& on) noexcept {
  for (const auto& one : ahead_)
    on.destroy(one.at);
  for (auto one : idle_)
    on.destroy(one);
  ahead_.clear();
  idle_.clear();
}

} // namespace troupe::gpu
