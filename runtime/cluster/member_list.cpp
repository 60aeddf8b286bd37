#include "troupe/runtime/cluster/member_list.hpp"

namespace troupe {

std::string_view to_string(presence state) noexcept {
  switch (state) {
    case presence::here: return "here";
    case presence::unreachable: return "unreachable";
    case presence::left: return "left";
    case presence::gone: return "gone";
  }
  return "unknown";
}

const cluster_member* member_list::find(const task_name& task) const {
  auto member = members_.find(task);
  return member == members_.end() ? nullptr : &member->second;
}

member_changes member_list::changes_since(const list_epoch& since) const {
  // The list of another coordinator may differ in any member.
  auto is_complete = since.term != epoch_.term || since > epoch_;
  member_changes changes{is_complete ? list_epoch{} : since, epoch_, {}, coordinator_};
  for (const auto& [task, member] : members_)
    if (is_complete || member.changed > since.change)
      changes.members.push_back(member);
  return changes;
}

member_list::merge_outcome member_list::merge(const member_changes& changes) {
  if (changes.epoch <= epoch_ || changes.epoch.term > last_term)
    return merge_outcome::outdated;
  auto is_complete = changes.base == list_epoch{};
  if (!is_complete && (changes.base.term != epoch_.term || changes.epoch.term != epoch_.term ||
                       changes.base > epoch_))
    return merge_outcome::gap;
  if (is_complete)
    members_.clear();
  for (const auto& member : changes.members)
    members_[member.task] = member;
  epoch_ = changes.epoch;
  coordinator_ = changes.coordinator;
  return merge_outcome::merged;
}

void member_list::begin_term(uint64_t term, const task_name& coordinator) {
  epoch_ = {term, 1};
  coordinator_ = coordinator;
  for (auto& [task, member] : members_)
    member.changed = 1;
}

void member_list::put(cluster_member member) {
  member.changed = ++epoch_.change;
  auto task = member.task;
  members_[task] = std::move(member);
}

} // namespace troupe
