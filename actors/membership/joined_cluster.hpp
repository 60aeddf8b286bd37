// The part of a membership that keeps the list of members of a cluster that tasks join
// (docs/decisions/056): the shell of a coordinator (runtime/cluster/cluster_coordinator.hpp), or of
// a copy of its list.
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

/// The functions of a membership that a joined_cluster calls.
struct join_host {
  std::function<void(task_addresses)> set_tasks; ///< takes the tasks that the cluster has now
  std::function<void(status)> end_process;       ///< ends this process with an error
  /// Connects to a task and passes on the incarnation of the process that answers; 0 if none
  /// answers within a bounded time.
  std::function<void(const task_name&, std::function<void(uint64_t)>)> find_incarnation;
  std::function<cluster_coordinator::time_point()> now;
  /// Keeps a connection to the address as to a seed, instead of the last such address.
  std::function<void(const std::string&)> keep_connection = {};
  /// Notes that the member at the address may be reachable now.
  std::function<void(const std::string&)> expect_member = {};
  /// Takes a changed list, for operators.
  std::function<void(const member_list&)> show_list = {};
  /// Writes an event to the log.
  std::function<void(std::string_view event, std::string text)> log = {};
};

/// Runs on the thread of the membership.
class joined_cluster {
public:
  joined_cluster(join_options options, const task_name& self, uint64_t incarnation, join_host host);

  /// Handles a peer that has introduced itself, on a connection that either side has opened.
  void connected(const peer_ready& ready);
  void disconnected(const peer_gone& gone);
  /// Marks the connection to the first seed. connected() is called for it, too.
  void reached_first(const connection_ptr& connection);

  /// Handles a message between members; returns false for other messages.
  bool handle_message(const incoming& received);
  /// Must be called every half second.
  void tick();
  /// Returns whether this process has a connection to a coordinator other than itself.
  bool has_coordinator_connection() const { return !coordinator_ && reaches_coordinator(); }

private:
  struct peer {
    list_gossip::peer id = 0;
    caf::actor exchange;
    std::optional<task_name> task; // none: a client
    uint64_t incarnation = 0;
    bool is_first = false; // the connection to the first seed
  };

  const member_list& list() const { return coordinator_ ? coordinator_->list() : copy_; }
  void send(const peer& receiver, message content);
  void take_changes(peer& from, const member_changes& changes);
  void take_claim(peer& from, const number_claim& claim);
  void take_grant(const peer& from, const number_grant& grant);
  number_grant refer(const number_claim& claim) const;
  void take_probe(peer& from, const probe_request& request);
  void take_answer(const peer& from, const probe_answer& answer);
  void take_vote_request(const peer& from, const vote_request& request);
  void take_vote(const peer& from, const vote& received);
  void send_probes();
  void call_unreachable();
  void contradict_losses();
  void check_election();
  void become_elected(uint64_t term);
  bool lists_predecessor() const;
  void follow_predecessor();
  void begin_term();
  void greet_peers();
  void step_down(const member_changes& later);
  void claim_own(const peer& receiver);
  void publish();
  void expect_members() const;
  void check_own_entry();
  bool is_coordinator(const peer& other) const;
  bool reaches_coordinator() const;
  void send_to(const task_name& task, const message& content);
  void log(std::string_view event, std::string text) const;
  bool shares_list() const; // false in a coordinator that is not settled yet

  join_options options_;
  task_name self_;
  uint64_t incarnation_;
  join_host host_;
  std::optional<cluster_coordinator> coordinator_; // set if this process is the coordinator
  bool was_elected_ = false; // or follows an elected process; else it is the first seed
  succession succession_;
  member_list copy_; // of the coordinator's list; not used by a coordinator
  list_gossip gossip_;
  std::map<const peer_connection*, peer> peers_;
  std::map<list_gossip::peer, peer*> by_id_; // in the order of connection
  list_gossip::peer next_peer_ = 1;
  list_epoch published_;       // the epoch of the last published list
  size_t pending_lookups_ = 0; // calls of join_host::find_incarnation that have not ended
  task_name last_called_;
  bool reported_silence_ = false; // the log says that the coordinator is unreachable
  cluster_coordinator::time_point last_tick_, last_call_;
  cluster_coordinator::time_point predecessor_named_since_; // as lists_predecessor() reports it
  cluster_coordinator::time_point resumed_at_; // when this process last resumed after a pause
};

} // namespace troupe
