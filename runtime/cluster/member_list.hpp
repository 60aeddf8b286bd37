// Who is in a cluster that tasks join: one task decides the list, all others have copies.
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

/// Orders lists: by who has decided them (the incarnation of that task, later ones being greater),
/// then by how often it has changed its list.
struct list_epoch {
  uint64_t term = 0, change = 0;
  auto operator<=>(const list_epoch&) const = default;
};

/// How a task of the list is, as far as its coordinator knows.
enum class presence : uint8_t {
  here,
  unreachable, ///< it may be frozen or cut off, and come back as the same
  left,        ///< it has said so: its number is free
  gone,        ///< it was unreachable for too long: the same
};
std::string_view to_string(presence what) noexcept;

struct cluster_member {
  task_name task;
  uint64_t incarnation = 0;
  std::string address;
  presence state = presence::here;
  uint64_t changed = 0; ///< the change of the list that made it so
  bool holds_number() const noexcept {
    return state == presence::here || state == presence::unreachable;
  }
  bool operator==(const cluster_member&) const = default;
};

/// What makes of a list another: all members that have changed after `since`. With `since` 0 of
/// both, the whole list.
struct member_changes {
  list_epoch since, epoch;
  std::vector<cluster_member> members = {};
  task_name coordinator = {}; ///< who has decided so; of a greeting: no task
};

/// A list of a later term is not taken: behind it none could follow.
inline constexpr uint64_t last_term = UINT64_MAX - 1;

inline constexpr int max_tasks_of_job = 65'536;

/// A task says who it is, or asks for a number.
struct number_claim {
  std::string job;
  int32_t task = -1; ///< its number; -1: any
  uint64_t incarnation = 0;
  std::string address;
  bool holds = false; ///< it has been given that number, and runs under it
};

struct number_grant {
  status outcome; ///< unavailable: ask again
  task_name task = {};
  uint64_t incarnation = 0; ///< with which it holds the number; may be greater than it said
  /// The address of the coordinator, where another task was asked. Its own: it is the coordinator.
  std::string ask = {};
};

/// Asks a member whether it can reach another one, which the coordinator does not hear.
struct probe_request {
  task_name task;
  uint64_t incarnation = 0;
};

/// Says whether it could; also unasked, of a member that is said to be gone.
struct probe_answer {
  task_name task;
  uint64_t incarnation = 0;
  bool reached = false;
};

/// A member asks whether it may take the place of a coordinator that it does not hear.
struct vote_request {
  uint64_t term = 0; ///< in which it would decide
  list_epoch has;    ///< its list
};

struct vote {
  uint64_t term = 0; ///< the greatest that this member has heard of
  bool granted = false;
};

class member_list {
public:
  const list_epoch& epoch() const noexcept { return epoch_; }
  /// Who decides it, as far as is known; no job: unknown.
  const task_name& coordinator() const noexcept { return coordinator_; }
  const std::map<task_name, cluster_member>& members() const noexcept { return members_; }
  const cluster_member* find(const task_name& task) const;

  member_changes changes_since(const list_epoch& since) const;

  enum class taken : uint8_t { old, news, gap };
  /// `old`: it says nothing new. `gap`: it changes a list that this is not: ask for the whole one.
  taken take(const member_changes& what);

  // -- of a coordinator

  /// Another task decides from now on.
  void begin_term(uint64_t term, const task_name& coordinator = {});
  /// Notes how a member is now.
  void put(cluster_member what);

private:
  list_epoch epoch_;
  task_name coordinator_;
  std::map<task_name, cluster_member> members_;
};

} // namespace troupe
