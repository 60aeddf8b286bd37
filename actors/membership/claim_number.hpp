// Requests the number of a task in a cluster that it joins.
#pragma once
#include "troupe/actors/membership/membership.hpp"
#include "troupe/runtime/cluster/member_list.hpp"

#include <caf/actor_system.hpp>

#include <functional>
#include <string>
#include <vector>

namespace troupe {

struct claim_options {
  std::vector<std::string> seeds; ///< addresses; usually the task at the first assigns numbers
  number_claim claim;
  std::string cluster; ///< its name, if it has one
  /// Time to wait for a number: tasks that assign numbers may start later.
  std::chrono::milliseconds patience{300'000};
  std::chrono::milliseconds peer_timeout{10'000};
  std::function<bool()> give_up = {}; ///< polled five times a second; true ends the request
  membership_transport transport;
};

/// Blocks until the number is granted or refused. Fails with `unavailable` after the patience, and
/// with `cancelled` after `give_up` has returned true.
/// Calls the seeds in turn, and the addresses to which they refer: tasks may start in any order.
result<number_grant> claim_number(caf::actor_system& system, claim_options options);

/// The same without blocking, for tests. Answers with number_grant or an error.
caf::actor spawn_claimant(caf::actor_system& system, claim_options options);

/// Waiting thread -> claimant: request the outcome. Answered by number_grant, or an error.
using await_number_atom = caf::atom_constant<caf::atom("awaitnum")>;

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::number_grant)
