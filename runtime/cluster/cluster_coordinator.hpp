// Assigns task numbers in a cluster that tasks join (docs/decisions/056). Knows no connections and
// no clock.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace troupe {

struct coordinator_options {
  /// Time after the start in which no numbers are assigned, so that the members of a former cluster
  /// can call.
  std::chrono::milliseconds settle{2'000};
  /// Time without a connection after which a member counts as unreachable.
  std::chrono::milliseconds unreachable_after{1'000};
  /// Time after which a member counts as gone, if neither the coordinator nor a member that was
  /// asked has reached it.
  std::chrono::milliseconds gone_after{30'000};
  /// The same if no other member is connected, so that none can be asked.
  std::chrono::milliseconds isolated_after{120'000};
  /// Period of the probes of an absent member: other members are asked whether they reach it.
  std::chrono::milliseconds probe_every{5'000};
  size_t probers = 3; ///< number of members that are asked in each period
  /// A longer pause between two ticks means that this process was suspended.
  std::chrono::milliseconds longest_pause{2'000};
};

/// Runs on the first task of the cluster, or on an elected one after the coordinator has failed.
class cluster_coordinator {
public:
  using time_point = std::chrono::steady_clock::time_point;

  cluster_coordinator(const task_name& self, uint64_t incarnation, const std::string& address,
                      const coordinator_options& options, time_point now);
  /// Takes over after an election, with the list of this member. `left`: the former coordinator has
  /// said that it ends.
  cluster_coordinator(const task_name& self, member_list former, uint64_t term, bool left,
                      const coordinator_options& options, time_point now);

  /// Does not assign the number of the task at that address, which resumes as coordinator when it
  /// is back.
  void reserve(std::string address) { reserved_ = std::move(address); }

  const member_list& list() const noexcept { return list_; }
  /// False in the time after the start; until then other tasks must not see the list.
  bool settled(time_point now) const noexcept { return now >= settled_at_; }

  /// Grants or refuses a number. `unavailable` means: ask again later.
  number_grant claim(const number_claim& request, time_point now);

  /// Merges the list of a former incarnation of this task, as a member reports it. A member's entry
  /// holds until the member reports itself. Fails if a later coordinator has made the list: this
  /// process has been replaced.
  status merge(const member_list& former, time_point now);

  /// Counts a new connection to a task, or the loss of one.
  void connected(const task_name& task, uint64_t incarnation);
  void lost(const task_name& task, uint64_t incarnation, time_point now);
  /// The task has said that it ends.
  void left(const task_name& task, uint64_t incarnation);

  /// Updates absent members to unreachable, or gone: to gone only if a member that was asked has
  /// not reached them either. If no member is connected, this task may be cut off itself, and waits
  /// for longer. Call it twice per second. A longer pause means that this process was suspended and
  /// could not notice its members: their times start again.
  void tick(time_point now);

  /// A member to ask about another one that has no connection to this task.
  struct probe {
    task_name prober;
    probe_request subject;
  };
  /// Returns the probes that are due, each once.
  std::vector<probe> probes(time_point now);
  /// The unreachable members, which this task must call.
  std::vector<task_name> unreachable() const;
  /// Processes an answer, requested or not.
  void record(const probe_answer& result, time_point now);

private:
  using process = std::pair<task_name, uint64_t>; // a task and its incarnation

  number_grant claim_any(const number_claim& request, time_point now);
  number_grant claim_number(const number_claim& request, time_point now);
  number_grant grant(const number_claim& request, const task_name& task, time_point now);
  bool is_free(const cluster_member& member) const;
  bool may_follow(const cluster_member& holder, const number_claim& request) const;
  void set(const task_name& task, presence state);
  /// Starts to measure the absence of a member, unless it is connected.
  void track_absence(const cluster_member& member, time_point now);

  coordinator_options options_;
  task_name self_;
  std::string reserved_;
  time_point settled_at_, last_tick_, alone_since_;
  member_list list_;
  list_epoch merged_epoch_;               // of the former list that was merged last
  std::set<task_name> confirmed_;         // members that have reported themselves
  std::map<task_name, uint64_t> claimed_; // the incarnation of each claim
  std::map<process, int> connections_;    // their number
  struct absence {
    time_point since;      // without a connection to this task
    time_point unreached;  // since when no member has reached it either
    time_point last_probe; // when members were asked last
    bool denied = false;   // a member that was asked could not reach it
  };
  std::map<task_name, absence> absences_; // of members that hold a number
  task_name last_prober_;                 // members are asked in turn
};

} // namespace troupe
