#include "troupe/runtime/cluster/list_gossip.hpp"

namespace troupe {

member_changes list_gossip::greeting(const member_list& of, bool asks) {
  auto epoch = asks ? list_epoch{} : of.epoch();
  return {epoch, epoch};
}

bool list_gossip::is_greeting(const member_changes& what) noexcept {
  return what.since == what.epoch;
}

void list_gossip::note(peer from, const list_epoch& has) {
  if (auto it = known_.find(from); it != known_.end())
    it->second = {has, true};
}

list_gossip::heard list_gossip::hear(peer from, const member_changes& what, member_list& into) {
  note(from, what.epoch);
  if (is_greeting(what))
    return {};
  heard made{into.take(what)};
  if (made.what == member_list::taken::gap)
    made.answer = greeting(into);
  return made;
}

std::vector<list_gossip::said> list_gossip::spread(const member_list& of) {
  std::vector<said> made;
  for (auto& [to, view] : known_)
    if (view.introduced && view.has < of.epoch()) {
      made.emplace_back(to, of.changes_since(view.has));
      view.has = of.epoch();
    }
  return made;
}

} // namespace troupe
