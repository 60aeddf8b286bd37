#include "troupe/runtime/cluster/member_list.hpp"

namespace troupe {

std::string_view to_string(presence what) noexcept {
  switch (what) {
    case presence::here: return "here";
    case presence::unreachable: return "unreachable";
    case presence::left: return "left";
    case presence::gone: return "gone";
  }
  return "unknown";
}

const cluster_member* member_list::find(const task_name& task) const {
  auto it = members_.find(task);
  return it == members_.end() ? nullptr : &it->second;
}

member_changes member_list::changes_since(const list_epoch& since) const {
  // What another coordinator has decided may differ anywhere.
  auto whole = since.term != epoch_.term || since > epoch_;
  member_changes made{whole ? list_epoch{} : since, epoch_, {}, coordinator_};
  for (const auto& [task, one] : members_)
    if (whole || one.changed > since.change)
      made.members.push_back(one);
  return made;
}

member_list::taken member_list::take(const member_changes& what) {
  if (what.epoch <= epoch_ || what.epoch.term > last_term)
    return taken::old;
  auto whole = what.since == list_epoch{};
  if (!whole &&
      (what.since.term != epoch_.term || what.epoch.term != epoch_.term || what.since > epoch_))
    return taken::gap;
  if (whole)
    members_.clear();
  for (const auto& one : what.members)
    members_[one.task] = one;
  epoch_ = what.epoch;
  coordinator_ = what.coordinator;
  return taken::news;
}

void member_list::begin_term(uint64_t term, const task_name& coordinator) {
  epoch_ = {term, 1};
  coordinator_ = coordinator;
  for (auto& [task, one] : members_)
    one.changed = 1;
}

void member_list::put(cluster_member what) {
  what.changed = ++epoch_.change;
  auto task = what.task;
  members_[task] = std::move(what);
}

} // namespace troupe
