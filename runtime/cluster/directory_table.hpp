// The rows of a directory, and the addresses that follow from them.
#pragma once
#include "troupe/runtime/cluster/directory_view.hpp"

#include <chrono>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace troupe {

/// The link that lists the row of this process: it is never lost.
inline constexpr uint64_t own_directory_link = 0;

/// A row is in the table while a link lists it, and for some time afterwards. Knows no connections
/// and no clock.
class directory_table {
public:
  using link = uint64_t;
  using time_point = std::chrono::steady_clock::time_point;

  explicit directory_table(const directory_limits& limits) : limits_(limits) {}

  /// A link lists a row. It replaces a row of the same process only if its version is greater.
  /// Ignored for a process that has left, unless its own link lists it (`is_own`). Fails without
  /// effect over a limit, except for the row of this process.
  status put(link from, directory_row row, bool is_own);
  /// The link lists the row of a process no longer.
  void drop(uint64_t process, link from, time_point now);
  /// The link has ended.
  void drop_link(link ended, time_point now);
  /// The process has said that it ends: its row disappears at once.
  void leave(uint64_t process, time_point now);
  /// Another process knows a row that it does not list. Its tasks are not shown.
  void note_former(const directory_row& row, time_point now);
  /// The greatest incarnation of a task that was noted so for the time of a lost row; 0: none.
  uint64_t former_incarnation(const task_name& task) const;
  /// Removes the rows that were lost for too long.
  void expire(time_point now);
  /// This process was suspended, and could not hear others.
  void postpone(std::chrono::steady_clock::duration gap);

  const directory_row* find(uint64_t process) const;
  /// Whether a link lists the process.
  bool is_listed(uint64_t process) const;
  bool has_left(uint64_t process) const { return left_.contains(process); }
  std::set<uint64_t> listed_by(link from) const;
  /// All processes with a row.
  std::set<uint64_t> processes() const;

  const directory_view& tasks() const noexcept { return tasks_; }

  /// Returns the processes whose rows have changed, appeared or disappeared since the last call.
  std::set<uint64_t> take_changed_rows() { return std::exchange(changed_rows_, {}); }
  bool take_changed_view() { return tasks_.take_changed(); }

private:
  struct known_row {
    directory_row row;
    std::set<link> links;  // that list it
    time_point lost_since; // if there are none
  };

  status check(const directory_row& row) const;
  void remove(uint64_t process);

  const directory_limits limits_;
  std::map<uint64_t, known_row> rows_;
  directory_view tasks_;
  std::map<uint64_t, time_point> left_; // processes that have left, and when
  std::map<task_name, std::pair<uint64_t, time_point>> former_; // incarnations, and when noted
  std::set<uint64_t> changed_rows_;
};

} // namespace troupe
