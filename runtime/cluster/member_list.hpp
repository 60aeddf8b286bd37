// The list of members of a cluster that tasks join. One task, the coordinator, changes the list;
// all other members have copies.
#pragma once
#include "troupe/runtime/device/device_name.hpp"
#include "troupe/runtime/types/status.hpp"

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// Orders lists: first by the term, which is greater for a later coordinator, then by the number of
/// changes in the term. A process that starts as the coordinator takes its incarnation as the term;
/// an elected one takes the number after the greatest term that it knows.
struct list_epoch {
  uint64_t term = 0, change = 0;
  auto operator<=>(const list_epoch&) const = default;
};

/// The state of a member, as far as its coordinator knows.
enum class presence : uint8_t {
  here,
  unreachable, ///< it may be suspended or cut off, and come back as the same process
  left,        ///< it has said that it ends: its number is free
  gone,        ///< it was unreachable for too long: its number is free
};
std::string_view to_string(presence state) noexcept;

struct cluster_member {
  task_name task;
  uint64_t incarnation = 0;
  std::string address;
  presence state = presence::here;
  uint64_t changed = 0; ///< list_epoch::change of the list that set this state
  bool holds_number() const noexcept {
    return state == presence::here || state == presence::unreachable;
  }
  bool operator==(const cluster_member&) const = default;
};

/// The difference between two lists: all members that have changed after `base`. If `base` is 0
/// in both parts, the complete list.
struct member_changes {
  list_epoch base, epoch;
  std::vector<cluster_member> members = {};
  task_name coordinator = {}; ///< of the list; empty in a greeting
};

/// Lists of later terms are rejected, because no term could follow.
inline constexpr uint64_t last_term = UINT64_MAX - 1;

inline constexpr int max_tasks_of_job = 65'536;

/// A task reports its number, or requests one.
struct number_claim {
  std::string job;
  int32_t task = -1; ///< its number; -1: any
  uint64_t incarnation = 0;
  std::string address;
  bool is_confirmed = false; ///< it was granted that number, and runs under it
};

struct number_grant {
  status outcome; ///< unavailable: ask again
  task_name task = {};
  uint64_t incarnation = 0; ///< under which the task holds the number; may exceed the claimed one
  /// The address of the coordinator, if another task was asked; its own address on the coordinator.
  std::string coordinator_address = {};
};

/// Asks a member whether it can reach another one that has no connection to the coordinator.
struct probe_request {
  task_name task;
  uint64_t incarnation = 0;
};

/// The answer to a probe; also sent without a request, for a member that is reported as gone.
struct probe_answer {
  task_name task;
  uint64_t incarnation = 0;
  bool reached = false;
};

/// A member asks whether it may replace a coordinator that it does not hear.
struct vote_request {
  uint64_t term = 0;          ///< the term for which it is a candidate
  list_epoch candidate_epoch; ///< the epoch of its list
};

struct vote {
  uint64_t term = 0; ///< the greatest term that the voter knows
  bool granted = false;
};

class member_list {
public:
  const list_epoch& epoch() const noexcept { return epoch_; }
  /// The coordinator of this list; without a job if unknown.
  const task_name& coordinator() const noexcept { return coordinator_; }
  const std::map<task_name, cluster_member>& members() const noexcept { return members_; }
  const cluster_member* find(const task_name& task) const;

  /// Returns the changes since an epoch, or the complete list if that epoch is of another term.
  member_changes changes_since(const list_epoch& since) const;

  enum class merge_outcome : uint8_t { outdated, merged, gap };
  /// `outdated`: the changes are not new. `gap`: they are based on another list; ask for the
  /// complete one.
  merge_outcome merge(const member_changes& changes);

  // -- for the coordinator

  /// Starts the term of another coordinator.
  void begin_term(uint64_t term, const task_name& coordinator = {});
  /// Sets the state of a member.
  void put(cluster_member member);

private:
  list_epoch epoch_;
  task_name coordinator_;
  std::map<task_name, cluster_member> members_;
};

} // namespace troupe
