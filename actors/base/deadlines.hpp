// Runs an actor's functions at given times of its system's clock, with one timer for all of them.
#pragma once
#include "troupe/runtime/types/step_clock.hpp"

#include <caf/atom.hpp>
#include <caf/local_actor.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace troupe {

/// Actor -> itself: a deadline may have passed. No answer.
using wake_atom = caf::atom_constant<caf::atom("wake")>;

/// Part of an actor's state; the actor calls wake() when it gets a wake_atom.
class deadlines {
public:
  using key = std::pair<step_clock::time_point, uint64_t>;

  /// Has `act` called at `when` or soon after, unless it is removed before.
  template <class Self>
  key add(Self* self, step_clock::time_point when, std::function<void()> act) {
    auto entry = waiting_.emplace(key{when, next_++}, std::move(act)).first;
    if (entry == waiting_.begin())
      schedule(self);
    return entry->first;
  }
  void remove(const key& deadline) { waiting_.erase(deadline); }

  template <class Self>
  void wake(Self* self) {
    auto now = self->clock().now();
    scheduled_.erase(scheduled_.begin(), scheduled_.upper_bound(now));
    while (!waiting_.empty() && waiting_.begin()->first.first <= now) {
      auto act = std::move(waiting_.begin()->second);
      waiting_.erase(waiting_.begin());
      act();
    }
    schedule(self);
  }

private:
  template <class Self>
  void schedule(Self* self) {
    if (waiting_.empty())
      return;
    auto now = self->clock().now();
    auto next = waiting_.begin()->first.first;
    if (!scheduled_.empty() && *scheduled_.begin() <= std::max(next, now))
      return;
    // Far deadlines are checked once a day: adding them to the clock's time would overflow.
    auto left =
        std::clamp<caf::timespan>(next - now, std::chrono::milliseconds{1}, std::chrono::hours{24});
    scheduled_.insert(now + left);
    self->delayed_send(self, left, wake_atom::value);
  }

  std::map<key, std::function<void()>> waiting_;
  std::set<step_clock::time_point> scheduled_; // times of the wake messages that are under way
  uint64_t next_ = 0;
};

} // namespace troupe
