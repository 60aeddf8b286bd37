// What an actor has to do at given times, by its system's clock, with one timer for all of it.
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

/// Actor -> itself: something may be due. No answer.
using wake_atom = caf::atom_constant<caf::atom("wake")>;

/// Part of an actor's state; the actor calls wake() when it gets a wake_atom.
class deadlines {
public:
  using key = std::pair<step_clock::time_point, uint64_t>;

  /// Has `act` called at `when`, or soon after, unless it is removed before.
  template <class Self>
  key add(Self* self, step_clock::time_point when, std::function<void()> act) {
    auto it = waiting_.emplace(key{when, next_++}, std::move(act)).first;
    if (it == waiting_.begin())
      schedule(self);
    return it->first;
  }
  void remove(const key& what) { waiting_.erase(what); }

  template <class Self>
  void wake(Self* self) {
    auto now = self->clock().now();
    under_way_.erase(under_way_.begin(), under_way_.upper_bound(now));
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
    if (!under_way_.empty() && *under_way_.begin() <= std::max(next, now))
      return;
    // Far deadlines are looked at again now and then: the clock cannot add them.
    auto left =
        std::clamp<caf::timespan>(next - now, std::chrono::milliseconds{1}, std::chrono::hours{24});
    under_way_.insert(now + left);
    self->delayed_send(self, left, wake_atom::value);
  }

  std::map<key, std::function<void()>> waiting_;
  std::set<step_clock::time_point> under_way_; // when messages to itself are due that it has sent
  uint64_t next_ = 0;
};

} // namespace troupe
