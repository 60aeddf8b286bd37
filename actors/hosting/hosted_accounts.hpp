// What clients have taken of a task that hosts their sessions, and how much they may.
#pragma once
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/runtime/types/status.hpp"

#include <map>
#include <memory>
#include <string>

namespace troupe {

/// Whom limits are of.
struct hosted_account {
  std::string name;
  uint64_t number = 0; ///< in turns
  size_t sessions = 0, programs = 0, steps = 0;
  uint64_t bytes = 0;
  hosting_limits limits;

  /// Says whether `more` bytes fit. Errors name the task.
  status may_hold(uint64_t more, const std::string& task) const;
  /// "client 5 has 2 sessions on /job:ps/task:0, as many as it may have".
  status too_many(uint64_t has, const char* what, const char* may, const std::string& task) const;
};

/// Part of a host, on its thread.
class hosted_accounts {
public:
  /// A client that an access list knows has one account, however many connections it has; else each
  /// connection has one. Its number is `next_number`, where it is new.
  std::shared_ptr<hosted_account> of(const connection_ptr& owner, const hosting_limits& limits,
                                     uint64_t& next_number);

private:
  std::map<const void*, std::weak_ptr<hosted_account>> known_; // by peer_account, or connection
};

} // namespace troupe
