#include "troupe/runtime/cluster/directory_view.hpp"

#include <cassert>
#include <optional>

namespace troupe {

const directory_view::holders& directory_view::holders_of(const task_name& task) const {
  static const holders none;
  auto entry = holders_.find(task);
  return entry == holders_.end() ? none : entry->second;
}

int directory_view::free_number(const std::string& job, int first) const {
  auto number = first;
  for (auto entry = holders_.lower_bound({job, first});
       entry != holders_.end() && entry->first == task_name{job, number}; ++entry)
    ++number;
  return number;
}

void directory_view::replace(uint64_t process, const std::vector<directory_task>& former,
                             const std::vector<directory_task>& later) {
  for (const auto& task : former) {
    auto entry = holders_.find(task.task);
    [[maybe_unused]] auto count = entry->second.erase(process);
    assert(count == 1);
    if (entry->second.empty())
      holders_.erase(entry);
  }
  for (const auto& task : later) {
    [[maybe_unused]] auto is_new = holders_[task.task].emplace(process, task).second;
    assert(is_new);
  }
  size_ += later.size();
  size_ -= former.size();
  for (const auto& task : former)
    update(task.task);
  for (const auto& task : later)
    update(task.task);
}

void directory_view::update(const task_name& task) {
  std::optional<directory_entry> latest;
  for (const auto& [process, held] : holders_of(task))
    if (!held.is_claimed && (!latest || std::pair{held.incarnation, process} >
                                            std::pair{latest->incarnation, latest->process}))
      latest = directory_entry{held.address, held.incarnation, process};
  auto shown = entries_.find(task);
  if (latest ? shown != entries_.end() && shown->second == *latest : shown == entries_.end())
    return;
  changed_ = true;
  if (latest)
    entries_[task] = *std::move(latest);
  else
    entries_.erase(shown);
}

} // namespace troupe
