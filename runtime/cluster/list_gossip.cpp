#include "troupe/runtime/cluster/list_gossip.hpp"

namespace troupe {

member_changes list_gossip::greeting(const member_list& list, bool asks) {
  auto epoch = asks ? list_epoch{} : list.epoch();
  return {epoch, epoch};
}

bool list_gossip::is_greeting(const member_changes& changes) noexcept {
  return changes.base == changes.epoch;
}

void list_gossip::set_epoch(peer from, const list_epoch& epoch) {
  if (auto entry = known_.find(from); entry != known_.end())
    entry->second = {epoch, true};
}

list_gossip::merge_result list_gossip::merge(peer from, const member_changes& changes,
                                             member_list& list) {
  set_epoch(from, changes.epoch);
  if (is_greeting(changes))
    return {};
  merge_result result{list.merge(changes)};
  if (result.outcome == member_list::merge_outcome::gap)
    result.answer = greeting(list);
  return result;
}

std::vector<list_gossip::message> list_gossip::take_messages(const member_list& list) {
  std::vector<message> messages;
  for (auto& [to, view] : known_)
    if (view.introduced && view.epoch < list.epoch()) {
      messages.emplace_back(to, list.changes_since(view.epoch));
      view.epoch = list.epoch();
    }
  return messages;
}

} // namespace troupe
