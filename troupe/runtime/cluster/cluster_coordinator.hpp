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
  /// For how long a member has had no connection here when it counts as unreachable, and as gone.
  std::chrono::milliseconds unreachable_after{1'000}, gone_after{30'000};
};

class cluster_coordinator {
public:
  using time_point = std::chrono::steady_clock::time_point;

  cluster_coordinator(const task_name& self, uint64_t incarnation, const std::string& address,
              const coordinator_options& options, time_point now);

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

  /// Members whose time is over become unreachable, or gone. Returns when something is due next. If
  /// it is called late, this process was not there to see its members: they get the time again.
  time_point tick(time_point now);

private:
  using life = std::pair<task_name, uint64_t>;

  number_grant claim_any(const number_claim& what, time_point now);
  number_grant claim_that(const number_claim& what, time_point now);
  number_grant grant(const number_claim& what, const task_name& task, time_point now);
  void set(const task_name& task, presence state);
  /// Counts from now on how long it is away, unless it is here.
  void expect(const cluster_member& which, time_point now);

  coordinator_options options_;
  task_name self_;
  time_point settled_, next_;
  member_list list_;
  list_epoch heard_;                      // of the former list that counts
  std::set<task_name> confirmed_;         // members that have spoken for themselves
  std::map<task_name, uint64_t> claimed_; // the incarnation with which a number was asked for
  std::map<life, int> connections_;
  std::map<task_name, time_point> away_since_;
};

} // namespace troupe
