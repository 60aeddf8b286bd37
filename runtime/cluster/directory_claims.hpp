// The tasks of a process in a directory: which numbers it claims, gets and loses.
#pragma once
#include "troupe/runtime/cluster/directory_table.hpp"
#include "troupe/runtime/cluster/member_list.hpp"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

namespace troupe {

/// A claim of a certain number succeeds at once, with a greater incarnation than those of other
/// processes that have the number: it replaces them. A claim of any number takes the lowest free
/// one, and succeeds if no other process has claimed it for some time; of two such claims, the one
/// with the lesser incarnation succeeds. Knows no connections and no clock.
class directory_claims {
public:
  using time_point = std::chrono::steady_clock::time_point;
  using claim_id = uint64_t; ///< chosen by the caller

  directory_claims(uint64_t own_process, const directory_limits& limits)
      : own_process_(own_process), limits_(limits) {}

  void add(claim_id id, const number_claim& request, time_point now);
  /// Withdraws a claim, or the task that it has got.
  void withdraw(claim_id id);

  struct decisions {
    std::vector<std::pair<claim_id, number_grant>> decided = {}; ///< a failure ends the claim
    std::vector<std::pair<claim_id, status>> replaced = {};      ///< tasks that others have got
  };
  /// Decides the claims that can be decided. `is_informed`: the table has the tasks of the cluster.
  /// `may_begin`: otherwise, this process may be the first one.
  decisions review(const directory_table& table, bool is_informed, bool may_begin, time_point now);

  /// The tasks for the row of this process.
  std::vector<directory_task> tasks() const;
  bool has_pending() const;

private:
  struct claim {
    claim_id id = 0;
    number_claim request = {};
    time_point since = {}; // it was made, or has claimed its number
    std::optional<directory_task> held = {};
  };

  void choose(claim& next, const directory_table& table, time_point now, decisions& outcome);
  void take(claim& next, const task_name& task, const directory_table& table, decisions& outcome);
  bool is_held(const task_name& task) const;
  bool must_yield(const directory_task& held, const directory_table& table) const;
  std::optional<task_name> task_at(const std::string& address, const std::string& job,
                                   const directory_table& table) const;

  const uint64_t own_process_;
  const directory_limits limits_;
  std::vector<claim> claims_;
};

} // namespace troupe
