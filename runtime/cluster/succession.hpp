// Decides whether a member takes the place of a coordinator that is gone (docs/decisions/064).
// Knows no connections and no clock.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"

#include <chrono>
#include <optional>
#include <set>

namespace troupe {

struct succession_options {
  /// For how long a member has not heard the coordinator when it votes for another, and when it
  /// asks for votes itself.
  std::chrono::milliseconds doubts_after{5'000}, asks_after{10'000};
  /// How much later than the member before it in the list each one asks, and how long until it does
  /// again.
  std::chrono::milliseconds turn{2'000}, again{10'000};
  /// A longer pause between two ticks: this process was not there, and has heard nobody.
  std::chrono::milliseconds longest_pause{2'000};
};

/// A member asks all others for their votes when it has not heard the coordinator for long. Who has
/// those of more than half of all members, the coordinator counted in unless it has said goodbye,
/// decides from then on. No member votes twice in one term, nor while it hears the coordinator, nor
/// for one whose list is older than its own.
class succession {
public:
  using time_point = std::chrono::steady_clock::time_point;

  succession(const task_name& self, uint64_t incarnation, const succession_options& options,
             time_point now)
      : options_(options), self_(self), incarnation_(incarnation), silent_since_(now),
        ticked_(now) {}

  /// To be called twice a second. `hears`: there is a connection to the coordinator of the list.
  /// Returns what is to be asked of all other members now.
  std::optional<vote_request> tick(const member_list& list, bool hears, time_point now);
  /// The coordinator has said goodbye.
  void left(uint64_t term) { left_ = term; }

  vote answer(const vote_request& what, const task_name& from, uint64_t incarnation,
              const member_list& list, time_point now);
  void count(const vote& what, const task_name& from, uint64_t incarnation,
             const member_list& list);
  /// The term in which this member decides; 0 while it does not.
  uint64_t elected(const member_list& list) const;
  /// How many votes it has, and needs, of those that it has asked for; none: it has asked for none.
  struct votes {
    size_t has = 0, needs = 0;
  };
  std::optional<votes> standing(const member_list& list) const;
  bool coordinator_left(const member_list& list) const { return left_ == list.epoch().term; }
  /// Whether the coordinator has not been heard for so long that votes of others would have shown.
  bool is_left_alone(time_point now) const {
    return !hears_ && now - ticked_ <= options_.longest_pause &&
           now - silent_since_ >= options_.doubts_after + options_.asks_after;
  }

private:
  size_t electorate(const member_list& list) const;

  succession_options options_;
  task_name self_;
  uint64_t incarnation_;
  uint64_t term_ = 0;     // of the list
  uint64_t left_ = 0;     // the term whose coordinator has said goodbye
  uint64_t promised_ = 0; // the greatest term that it has voted in, or heard of
  uint64_t asks_ = 0;     // the term that it has asked for; 0: none
  bool hears_ = false;
  std::set<task_name> voters_;
  time_point silent_since_, ticked_, next_;
};

} // namespace troupe
