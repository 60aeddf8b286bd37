// The use that each client makes of a task that hosts its sessions, and its limits.
#pragma once
#include "troupe/actors/base/peer_connection.hpp"
#include "troupe/actors/hosting/hosting_limits.hpp"
#include "troupe/runtime/types/status.hpp"

#include <map>
#include <memory>
#include <string>

namespace troupe {

/// The use and the limits of one client.
struct hosted_account {
  std::string name;
  uint64_t number = 0; ///< of the client, in the admission queue
  size_t sessions = 0, programs = 0;
  size_t steps = 0;   ///< running or waiting steps and other requests
  uint64_t bytes = 0; ///< of graphs, and of feeds of running or waiting steps
  hosting_limits limits;

  /// Fails if `more` bytes exceed the limit. Errors name the task.
  status check_bytes(uint64_t more, const std::string& task) const;
  /// Returns an error: "client 5 has 2 sessions on /job:ps/task:0, which is the limit".
  status limit_error(uint64_t count, const char* kind, const std::string& task) const;
};

/// Part of a host, on its thread.
class hosted_accounts {
public:
  /// Returns the account of a connection. The connections of a client in the access list share one
  /// account; each other connection has its own. A new account gets `next_number`, which is then
  /// incremented.
  std::shared_ptr<hosted_account> of(const connection_ptr& owner, const hosting_limits& limits,
                                     uint64_t& next_number);

private:
  std::map<const void*, std::weak_ptr<hosted_account>> accounts_; // by peer_account or connection
};

} // namespace troupe
