// Decides whether a member replaces a coordinator that is gone (docs/decisions/064). Knows no
// connections and no clock.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"

#include <chrono>
#include <optional>
#include <set>

namespace troupe {

struct succession_options {
  /// Time without a connection to the coordinator after which a member votes for another one, and
  /// after which it asks for votes itself.
  std::chrono::milliseconds vote_after{5'000}, candidate_after{10'000};
  /// Delay of each member after the one before it in the list, and the time until it asks again.
  std::chrono::milliseconds rank_delay{2'000}, retry_after{10'000};
  /// A longer pause between two ticks means that this process was suspended.
  std::chrono::milliseconds longest_pause{2'000};
};

/// A member without a connection to the coordinator asks all other members for votes after some
/// time. A candidate with the votes of more than half of all members becomes the coordinator; the
/// former coordinator counts as a member, unless it has said that it ends. A member votes
/// - once in each term,
/// - only while it has no connection to the coordinator, and
/// - only for a candidate whose list is not older than its own.
class succession {
public:
  using time_point = std::chrono::steady_clock::time_point;

  succession(const task_name& self, uint64_t incarnation, const succession_options& options,
             time_point now)
      : options_(options), self_(self), incarnation_(incarnation), silent_since_(now),
        last_tick_(now) {}

  /// Call it twice per second. `hears`: there is a connection to the coordinator of the list.
  /// Returns a request that must be sent to all other members now, if any.
  std::optional<vote_request> tick(const member_list& list, bool hears, time_point now);
  /// The coordinator of this term has said that it ends.
  void left(uint64_t term) { left_term_ = term; }

  /// Decides this member's vote for a candidate. `incarnation` is the candidate's.
  vote answer(const vote_request& request, const task_name& from, uint64_t incarnation,
              const member_list& list, time_point now);
  /// Counts a vote for this member, or notes the later term of a refusal.
  void count(const vote& received, const task_name& from, uint64_t incarnation,
             const member_list& list);
  /// Returns the term that this member has won; 0 if none.
  uint64_t elected(const member_list& list) const;
  /// The votes that a candidate has and needs; nothing if this member is not a candidate.
  struct votes {
    size_t has = 0, needs = 0;
  };
  std::optional<votes> vote_count(const member_list& list) const;
  bool coordinator_left(const member_list& list) const { return left_term_ == list.epoch().term; }
  /// Whether the coordinator was silent for so long that an election by others would have been
  /// seen.
  bool is_isolated(time_point now) const {
    return !hears_ && now - last_tick_ <= options_.longest_pause &&
           now - silent_since_ >= options_.vote_after + options_.candidate_after;
  }

private:
  size_t electorate(const member_list& list) const;

  succession_options options_;
  task_name self_;
  uint64_t incarnation_;
  uint64_t term_ = 0;           // of the list
  uint64_t left_term_ = 0;      // the last term whose coordinator has said that it ends
  uint64_t promised_term_ = 0;  // the greatest term that this member has voted in, or knows
  uint64_t candidate_term_ = 0; // the term for which this member is a candidate; 0: none
  bool hears_ = false;
  std::set<task_name> voters_;
  time_point silent_since_, last_tick_, next_request_;
};

} // namespace troupe
