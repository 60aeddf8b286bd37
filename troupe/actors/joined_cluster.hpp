// The part of a membership that keeps the list of members of a cluster that tasks join
// (docs/decisions/056): the shell of a coordinator (runtime/cluster/cluster_coordinator.hpp), or of a copy.
#pragma once
#include "troupe/actors/join_options.hpp"
#include "troupe/actors/messages.hpp"
#include "troupe/runtime/cluster/list_gossip.hpp"
#include "troupe/serialization/discovery/address_source.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// What a membership does for it.
struct join_host {
  std::function<void(task_addresses)> learn; ///< who is in the cluster now
  std::function<void(status)> fail;          ///< this process must end
  std::function<cluster_coordinator::time_point()> now;
};

/// All on the thread of the membership.
class joined_cluster {
public:
  joined_cluster(join_options options, const task_name& self, uint64_t incarnation, join_host host);

  /// Somebody has introduced itself, on a connection that either side has made.
  void connected(const peer_ready& what);
  void disconnected(const peer_gone& what);
  /// The same of the connection to the first seed, which `connected` is called for, too.
  void reached_first(const connection_ptr& via);

  /// A message between members; false where it is none.
  bool take(const incoming& what);
  /// To be called now and then: each half second.
  void tick();

private:
  struct peer {
    list_gossip::peer id = 0;
    caf::actor exchange;
    std::optional<task_name> task; // none of a client
    uint64_t incarnation = 0;
    bool is_first = false; // the connection to the first seed
  };

  const member_list& list() const { return decides_ ? decides_->list() : copy_; }
  void send(const peer& to, message what);
  void take_changes(peer& from, const member_changes& what);
  void take_claim(peer& from, const number_claim& what);
  void take_grant(const peer& from, const number_grant& what);
  void claim_own(const peer& first);
  void publish();
  bool speaks() const; // its list is for others

  join_options options_;
  task_name self_;
  uint64_t incarnation_;
  join_host host_;
  std::optional<cluster_coordinator> decides_;
  member_list copy_;
  list_gossip gossip_;
  std::map<const peer_connection*, peer> peers_;
  std::map<list_gossip::peer, peer*> by_id_;
  list_gossip::peer next_peer_ = 1;
  list_epoch published_;
};

} // namespace troupe
