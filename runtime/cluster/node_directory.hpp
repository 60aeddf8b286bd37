// The directory of a node: which tasks a cluster has, and where.
#pragma once
#include "troupe/runtime/cluster/directory_claims.hpp"
#include "troupe/runtime/cluster/directory_table.hpp"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

struct directory_options {
  directory_role role = directory_role::node;
  uint64_t process = 0; ///< a random number
  /// Greater than all versions of earlier directories of this process.
  uint64_t first_version = 1;
  std::string cluster = {};            ///< the name of the cluster
  std::vector<std::string> named = {}; ///< addresses of nodes that the text of the cluster names
  std::vector<std::string> nodes = {}; ///< addresses at which other nodes call this one
  directory_limits limits = {};
};

/// Nodes have links to all other nodes. Each node tells the others of its own row, and of the rows
/// of the nodes and guests that it has a link to, and of no others: a row travels over at most two
/// nodes, and disappears when its process has ended. A guest learns all rows from its nodes.
///
/// Gives addresses and no authority: the process at an address proves its name when it is connected
/// to. Knows no connections, no clock and no threads. Links must keep the order of messages; a
/// message may be lost. Each call returns the next actions.
class node_directory {
public:
  using link = directory_table::link; ///< chosen by the caller; not 0
  using claim_id = directory_claims::claim_id;
  using time_point = std::chrono::steady_clock::time_point;

  /// The actions that follow an event, in this order.
  struct effects {
    std::vector<std::pair<link, directory_message>> send = {};
    std::vector<link> close = {};       ///< once the messages above have left
    std::vector<std::string> dial = {}; ///< answer with connected(), failed() or reached_self()
    std::vector<std::pair<claim_id, number_grant>> decided = {};
    std::vector<std::pair<claim_id, status>> replaced = {}; ///< another process has the task: end
    bool changed = false;                                   ///< view() differs
  };

  node_directory(directory_options options, time_point now);
  node_directory(node_directory&&) noexcept;
  node_directory& operator=(node_directory&&) noexcept;
  ~node_directory();

  // -- connections

  /// There is a link to another process. `dialed` is the address that was called; empty if the
  /// other process has called. A link that exists may be reported again under another address.
  effects connected(link at, const std::string& dialed, time_point now);
  effects failed(const std::string& dialed, const status& why, time_point now);
  /// This process itself is at the address.
  effects reached_self(const std::string& dialed, time_point now);
  effects lost(link at, time_point now);
  effects take(link from, directory_message&& message, time_point now);
  /// The peer has sent bytes that are no message.
  effects reject(link from, const status& why, time_point now);
  /// To be called every tick_period().
  effects tick(time_point now);
  std::chrono::milliseconds tick_period(time_point now) const;

  // -- this process

  effects set_nodes(std::vector<std::string> nodes, time_point now);
  /// Claims a task number; `decided` has the answer. With number_claim::is_confirmed, the process
  /// has the number already.
  effects claim(claim_id id, const number_claim& request, time_point now);
  /// Withdraws a claim, or the task that it has got.
  effects withdraw(claim_id id, time_point now);
  /// This process ends. No other call may follow.
  effects leave();

  // -- the cluster

  /// The tasks of the cluster. One process for each task: that of the greatest incarnation.
  const std::map<task_name, directory_entry>& view() const noexcept;
  /// Whether the tasks of the cluster are known: a node has told them, or this is the first node.
  bool is_informed() const;
  /// Fails if there is no link to a node: names the last error of each address.
  status problem() const;

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
