#include "troupe/runtime/cluster/directory_table.hpp"

#include <algorithm>
#include <cassert>

namespace troupe {

status directory_table::check(const directory_row& row) const {
  if (row.tasks.size() > limits_.tasks_of_process)
    return failure(error_kind::resource_exhausted, "a process names ", row.tasks.size(),
                   " tasks; a process has at most ", limits_.tasks_of_process);
  if (row.nodes.size() > limits_.endpoints)
    return failure(error_kind::resource_exhausted, "a node names ", row.nodes.size(),
                   " addresses; a node has at most ", limits_.endpoints);
  std::set<task_name> names;
  for (const auto& entry : row.tasks)
    if (!names.insert(entry.task).second)
      return invalid("a process names ", entry.task, " twice");
  auto* before = find(row.process);
  if (!before && rows_.size() >= limits_.tasks)
    return failure(error_kind::resource_exhausted, "the cluster has ", limits_.tasks,
                   " processes, which is the limit");
  if (tasks_.size() - (before ? before->tasks.size() : 0) + row.tasks.size() > limits_.tasks)
    return failure(error_kind::resource_exhausted, "the cluster has ", limits_.tasks,
                   " tasks, which is the limit");
  return {};
}

status directory_table::put(link from, directory_row row, bool is_own) {
  auto process = row.process;
  if (is_own)
    left_.erase(process);
  else if (has_left(process))
    return {};
  auto known = rows_.find(process);
  auto is_newer = known == rows_.end() || row.version > known->second.row.version;
  if (is_newer) {
    if (from != own_directory_link)
      TROUPE_TRY(check(row));
    if (known == rows_.end())
      known = rows_.try_emplace(process).first;
    auto former = std::exchange(known->second.row, std::move(row));
    tasks_.replace(process, former.tasks, known->second.row.tasks);
  }
  if (is_newer || known->second.links.empty())
    changed_rows_.insert(process);
  known->second.links.insert(from);
  return {};
}

void directory_table::drop(uint64_t process, link from, time_point now) {
  auto known = rows_.find(process);
  if (known == rows_.end() || known->second.links.erase(from) == 0 || !known->second.links.empty())
    return;
  known->second.lost_since = now;
  changed_rows_.insert(process);
}

void directory_table::drop_link(link ended, time_point now) {
  for (auto process : listed_by(ended))
    drop(process, ended, now);
}

void directory_table::leave(uint64_t process, time_point now) {
  if (!rows_.contains(process))
    return;
  remove(process);
  if (left_.size() < limits_.tasks)
    left_[process] = now;
}

void directory_table::note_former(const directory_row& row, time_point now) {
  for (const auto& held : row.tasks) {
    if (former_.size() >= limits_.tasks && !former_.contains(held.task))
      continue;
    auto& [incarnation, noted_at] = former_[held.task];
    incarnation = std::max(incarnation, held.incarnation);
    noted_at = now;
  }
}

uint64_t directory_table::former_incarnation(const task_name& task) const {
  auto entry = former_.find(task);
  return entry == former_.end() ? 0 : entry->second.first;
}

void directory_table::expire(time_point now) {
  std::vector<uint64_t> expired;
  for (const auto& [process, known] : rows_)
    if (known.links.empty() && now >= known.lost_since + limits_.keep)
      expired.push_back(process);
  for (auto process : expired)
    remove(process);
  std::erase_if(former_,
                [&](const auto& entry) { return now >= entry.second.second + limits_.keep; });
  // By then no link lists the process any longer.
  std::erase_if(left_, [&](const auto& entry) { return now >= entry.second + 2 * limits_.keep; });
}

void directory_table::postpone(std::chrono::steady_clock::duration gap) {
  for (auto& [process, known] : rows_)
    known.lost_since += gap;
}

void directory_table::remove(uint64_t process) {
  auto known = rows_.extract(process);
  assert(!known.mapped().links.contains(own_directory_link));
  tasks_.replace(process, known.mapped().row.tasks, {});
  changed_rows_.insert(process);
}

const directory_row* directory_table::find(uint64_t process) const {
  auto known = rows_.find(process);
  return known == rows_.end() ? nullptr : &known->second.row;
}

bool directory_table::is_listed(uint64_t process) const {
  auto known = rows_.find(process);
  return known != rows_.end() && !known->second.links.empty();
}

std::set<uint64_t> directory_table::listed_by(link from) const {
  std::set<uint64_t> listed;
  for (const auto& [process, known] : rows_)
    if (known.links.contains(from))
      listed.insert(process);
  return listed;
}

std::set<uint64_t> directory_table::processes() const {
  std::set<uint64_t> with_row;
  for (const auto& [process, known] : rows_)
    with_row.insert(process);
  return with_row;
}

} // namespace troupe
