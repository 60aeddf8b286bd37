// The part of a membership that keeps the list of members of a cluster that tasks join
// (docs/decisions/056): the shell of a coordinator (runtime/cluster/cluster_coordinator.hpp), or of
// a copy.
#pragma once
#include "troupe/actors/base/messages.hpp"
#include "troupe/actors/membership/join_options.hpp"
#include "troupe/runtime/cluster/list_gossip.hpp"
#include "troupe/serialization/discovery/address_source.hpp"

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// What a membership does for it.
struct join_host {
  std::function<void(task_addresses)> learn; ///< who is in the cluster now
  std::function<void(status)> fail;          ///< this process must end
  /// Looks whether that task answers, and says which incarnation of it does; 0 where none does. In
  /// bounded time.
  std::function<void(const task_name&, std::function<void(uint64_t)>)> reach;
  std::function<cluster_coordinator::time_point()> now;
  /// Keeps a connection to that address, in the place of the last one, as to a seed.
  std::function<void(const std::string&)> keep = {};
  /// There is news of a member at that address: it may be there.
  std::function<void(const std::string&)> expect = {};
  /// The list is another one.
  std::function<void(const member_list&)> show = {};
  /// What its operators should know.
  std::function<void(std::string_view event, std::string text)> tell = {};
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
  /// Whether it hears a coordinator, which is not itself.
  bool follows() const { return !decides_ && hears_coordinator(); }

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
  number_grant refer(const number_claim& what) const;
  void take_probe(peer& from, const probe_request& what);
  void take_answer(const peer& from, const probe_answer& what);
  void take_vote_request(const peer& from, const vote_request& what);
  void take_vote(const peer& from, const vote& what);
  void ask_others();
  void call_others();
  void object();
  void stand();
  void decide(uint64_t term);
  bool names_itself() const;
  void follow();
  void begin_term();
  void introduce();
  void step_down(const member_changes& later);
  void claim_own(const peer& to);
  void publish();
  void tell_of_members() const;
  void look_for_oneself();
  bool is_coordinator(const peer& which) const;
  bool hears_coordinator() const;
  void send_to(const task_name& task, const message& what);
  void tell(std::string_view event, std::string text) const;
  bool speaks() const; // its list is for others

  join_options options_;
  task_name self_;
  uint64_t incarnation_;
  join_host host_;
  std::optional<cluster_coordinator> decides_;
  bool was_elected_ = false; // or follows one that was; else it is the first seed
  succession succession_;
  member_list copy_;
  list_gossip gossip_;
  std::map<const peer_connection*, peer> peers_;
  std::map<list_gossip::peer, peer*> by_id_; // in the order in which they came
  list_gossip::peer next_peer_ = 1;
  list_epoch published_;
  size_t probing_ = 0;
  task_name last_called_;
  bool told_of_silence_ = false;
  cluster_coordinator::time_point ticked_, called_, named_since_;
  cluster_coordinator::time_point late_at_; // when this process was last not there
};

} // namespace troupe
