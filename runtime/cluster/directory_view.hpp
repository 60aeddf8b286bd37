// The tasks of the rows of a directory.
#pragma once
#include "troupe/runtime/cluster/directory_message.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace troupe {

/// The process that has a task, and the task's address.
struct directory_entry {
  std::string address;
  uint64_t incarnation = 0, process = 0;
  bool operator==(const directory_entry&) const = default;
};

class directory_view {
public:
  /// The confirmed holder of each task: the one with the greatest incarnation; of equal ones, that
  /// of the greatest process number.
  const std::map<task_name, directory_entry>& entries() const noexcept { return entries_; }

  /// The processes that have a task, or claim its number.
  using holders = std::map<uint64_t, directory_task>;
  const holders& holders_of(const task_name& task) const;
  /// Returns the first number from `first` on that no process has or claims.
  int free_number(const std::string& job, int first) const;
  /// The number of tasks of all rows.
  size_t size() const noexcept { return size_; }

  /// Replaces the tasks of a process. Their names differ.
  void replace(uint64_t process, const std::vector<directory_task>& former,
               const std::vector<directory_task>& later);
  /// Whether the entries have changed since the last call.
  bool take_changed() { return std::exchange(changed_, false); }

private:
  void update(const task_name& task);

  std::map<task_name, holders> holders_;
  size_t size_ = 0;
  std::map<task_name, directory_entry> entries_;
  bool changed_ = false;
};

} // namespace troupe
