// Decides who has which number in a cluster that tasks join (docs/decisions/056). Knows no
// connections and no clock.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"

#include <chrono>
#include <map>
#include <set>
#include <string>

namespace troupe {

struct coordinator_options {
  /// How long after its start no numbers are given out: members of a former life call within it.
  std::chrono::milliseconds settle{2'000};
  /// For how long a member has had no connection here when it counts as unreachable, and as gone;
  /// and as gone where no other member is connected that could be asked.
  std::chrono::milliseconds unreachable_after{1'000}, gone_after{30'000}, alone_after{120'000};
  /// How often others are asked whether they reach it, and how many.
  std::chrono::milliseconds probe_every{5'000};
  size_t probers = 3;
  /// A longer pause between two ticks: this process was not there.
  std::chrono::milliseconds longest_pause{2'000};
};

/// Decides from the first task of the cluster on, or in the place of another one that is gone.
class cluster_coordinator {
public:
  using time_point = std::chrono::steady_clock::time_point;

  cluster_coordinator(const task_name& self, uint64_t incarnation, const std::string& address,
                      const coordinator_options& options, time_point now);
  /// A member that was elected goes on with the list that it has. `left`: the former coordinator
  /// has said goodbye.
  cluster_coordinator(const task_name& self, member_list former, uint64_t term, bool left,
                      const coordinator_options& options, time_point now);

  /// The number of the task at that address is given to none elsewhere: it decides when it is back.
  void reserve(std::string address) { reserved_ = std::move(address); }

  const member_list& list() const noexcept { return list_; }
  /// Before, its list is for itself.
  bool settled(time_point now) const noexcept { return now >= settled_; }

  number_grant claim(const number_claim& what, time_point now);

  /// A member brings the list of a former life of this task. What it says holds until a member says
  /// otherwise for itself. Fails where a later life has decided it: this process has been replaced.
  status hear(const member_list& former, time_point now);

  /// There is one more connection to a task, or one less.
  void connected(const task_name& task, uint64_t incarnation);
  void lost(const task_name& task, uint64_t incarnation, time_point now);
  /// The task has said that it ends.
  void left(const task_name& task, uint64_t incarnation);

  /// Members whose time is over become unreachable, or gone: gone only if a member that was asked
  /// has not reached them either. One that no member is connected to may be cut off itself, and
  /// waits for longer. To be called twice a second. After a longer pause than that, this process
  /// was not there to see its members: they get the time again.
  void tick(time_point now);

  /// Whom to ask now about members without a connection here.
  struct probe {
    task_name by;
    probe_request about;
  };
  std::vector<probe> probes(time_point now);
  /// Members that are unreachable, for this task to call.
  std::vector<task_name> unreachable() const;
  /// What a member says, asked or not.
  void hear(const probe_answer& what, time_point now);

private:
  using life = std::pair<task_name, uint64_t>;

  number_grant claim_any(const number_claim& what, time_point now);
  number_grant claim_that(const number_claim& what, time_point now);
  number_grant grant(const number_claim& what, const task_name& task, time_point now);
  bool is_free(const cluster_member& which) const;
  bool may_follow(const cluster_member& holder, const number_claim& what) const;
  void set(const task_name& task, presence state);
  /// Counts from now on how long it is away, unless it is here.
  void expect(const cluster_member& which, time_point now);

  coordinator_options options_;
  task_name self_;
  std::string reserved_;
  time_point settled_, ticked_, alone_since_;
  member_list list_;
  list_epoch heard_;                      // of the former list that counts
  std::set<task_name> confirmed_;         // members that have spoken for themselves
  std::map<task_name, uint64_t> claimed_; // the incarnation with which a number was asked for
  std::map<life, int> connections_;
  struct absence {
    time_point since;    // it has had no connection here
    time_point unheard;  // nor has a member reached it
    time_point asked;    // others, last
    bool denied = false; // a member that was asked did not reach it either
  };
  std::map<task_name, absence> away_; // of those that hold a number
  task_name last_asked_;              // members are asked in turn
};

} // namespace troupe
