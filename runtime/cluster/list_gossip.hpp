// Passes a list of members on by the connections that a process has anyway.
#pragma once
#include "troupe/runtime/cluster/member_list.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace troupe {

/// Each end of a connection first says which list it has; the one behind is sent what has changed,
/// then and whenever the other hears something new. Connections keep the order of what they carry.
class list_gossip {
public:
  using peer = uint64_t;
  using said = std::pair<peer, member_changes>;

  /// What to say on a new connection: which list is known, and nothing of it. `asks`: as if none
  /// were, so that all is sent.
  static member_changes greeting(const member_list& of, bool asks = false);
  static bool is_greeting(const member_changes& what) noexcept;

  void connected(peer to) { known_.try_emplace(to); }
  void lost(peer to) { known_.erase(to); }

  struct heard {
    member_list::taken what = member_list::taken::old;
    std::optional<member_changes> answer = {};
  };
  /// Takes what a peer says into the list.
  heard hear(peer from, const member_changes& what, member_list& into);
  /// The peer has that list, as it says.
  void note(peer from, const list_epoch& has);

  /// What to send to whom, once.
  std::vector<said> spread(const member_list& of);

private:
  struct view {
    list_epoch has;
    bool introduced = false; // it has said which it has
  };
  std::map<peer, view> known_;
};

} // namespace troupe
