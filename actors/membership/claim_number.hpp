// A task asks for its number in a cluster that it joins.
#pragma once
#include "troupe/actors/membership/membership.hpp"
#include "troupe/runtime/cluster/member_list.hpp"

#include <caf/actor_system.hpp>

#include <functional>
#include <string>
#include <vector>

namespace troupe {

struct claim_options {
  std::vector<std::string> seeds; ///< addresses; the task at the first gives out numbers, as a rule
  number_claim what;
  std::string cluster;                         ///< its name, if it has one
  std::chrono::milliseconds patience{300'000}; ///< with a task that is not there, or not yet ready
  std::chrono::milliseconds peer_timeout{10'000};
  std::function<bool()> give_up = {}; ///< asked five times a second
  membership_ways ways;
};

/// Blocks until the number is given or refused, or the patience is over, which it says. Calls one
/// address after the other, and the one that it is referred to: tasks may start in any order.
result<number_grant> claim_number(caf::actor_system& system, claim_options options);

/// The same without waiting, for tests. Answered by number_grant, or an error; ends then.
caf::actor spawn_claimant(caf::actor_system& system, claim_options options);

/// Who waits -> claimant: what has come of it? Answered by number_grant, or an error.
using await_number_atom = caf::atom_constant<caf::atom("awaitnum")>;

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::number_grant)
