// Distributes a list of members over the existing connections of a process.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace troupe {

/// Each end of a connection first names the epoch of its list. The end with the older list gets the
/// changes, then and whenever the other end learns of new ones. Connections must keep the order of
/// messages.
class list_gossip {
public:
  using peer = uint64_t;
  using message = std::pair<peer, member_changes>;

  /// Returns the first message on a new connection: the epoch of the list, without members. With
  /// `asks`, the message has the epoch of an empty list, so that the peer sends its complete list.
  static member_changes greeting(const member_list& list, bool asks = false);
  static bool is_greeting(const member_changes& changes) noexcept;

  void connected(peer to) { known_.try_emplace(to); }
  void lost(peer to) { known_.erase(to); }

  struct merge_result {
    member_list::merge_outcome outcome = member_list::merge_outcome::outdated;
    std::optional<member_changes> answer = {}; ///< to be sent to the peer
  };
  /// Merges the changes from a peer into the list.
  merge_result merge(peer from, const member_changes& changes, member_list& list);
  /// Notes that the peer has the list of that epoch.
  void set_epoch(peer from, const list_epoch& epoch);

  /// Returns the messages to send, each once.
  std::vector<message> take_messages(const member_list& list);

private:
  struct view {
    list_epoch epoch;        // of the list that the peer has
    bool introduced = false; // the peer has sent its epoch
  };
  std::map<peer, view> known_;
};

} // namespace troupe
