#include "troupe/runtime/cluster/list_gossip.hpp"

namespace troupe {

member_changes list_gossip::greeting(const member_list& list, bool asks) {
  auto epoch = asks ? list_epoch{} : list.epoch();
  return {epoch, epoch};
}

bool list_gossip::is_greeting(const member_changes& changes) noexcept {
  return changes.since == changes.epoch;
}

void list_gossip::note(peer from, const list_epoch& has) {
  if (auto entry = known_.find(from); entry != known_.end())
    entry->second = {has, true};
}

list_gossip::heard list_gossip::hear(peer from, const member_changes& changes, member_list& list) {
  note(from, changes.epoch);
  if (is_greeting(changes))
    return {};
  heard result{list.take(changes)};
  if (result.what == member_list::taken::gap)
    result.answer = greeting(list);
  return result;
}

std::vector<list_gossip::said> list_gossip::spread(const member_list& list) {
  std::vector<said> messages;
  for (auto& [to, view] : known_)
    if (view.introduced && view.has < list.epoch()) {
      messages.emplace_back(to, list.changes_since(view.has));
      view.has = list.epoch();
    }
  return messages;
}

} // namespace troupe
