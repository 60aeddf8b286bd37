// The lock of a folder: one process at a time writes to it (docs/files.md, decision 077).
//
// A text file in the folder names the holder: its host, its process number and the time when it
// took the lock. A process of the same kernel has ended if no process has its number and its start
// time. A process elsewhere, which may see the folder over a network, increments a count in the
// file while it runs: if the count does not change for `lease`, it has ended. Clocks of other
// machines are not compared.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

struct folder_lock_options {
  std::string file = "writer.lock"; ///< its name in the folder
  std::string content = "files";    ///< what the folder contains, for errors: "checkpoints"
  std::string owner = {}; ///< the part of the program that takes it, for errors: "saver (a.cpp:1)"
  bool take_over = false; ///< also from a running holder, which may not write afterwards
  std::string how_to_take_over = {}; ///< for errors: "set saver_options::take_over"
  /// Locks of one folder in one process are shared. Otherwise a second one fails.
  bool shared_in_process = false;
  std::chrono::milliseconds refresh{3'000};
  std::chrono::milliseconds lease{15'000}; ///< a few times `refresh` of the holder
};

/// The right to write to a folder, until it is destroyed. After a fork, the child has no such
/// right. Thread-safe.
class folder_lock {
public:
  /// Fails with already_exists, naming the holder, if another process holds the folder; for a
  /// holder on another machine or in another container, after `lease` at the latest. Fails with
  /// the errors of file_system if the lock cannot be written. The folder must exist.
  static result<std::shared_ptr<folder_lock>> acquire(const std::string& folder,
                                                      folder_lock_options options);
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  /// Releases the lock: removes the file unless another process has taken the folder over.
  ~folder_lock();

  /// Fails with already_exists, naming the new holder, if another process has taken the folder
  /// over, and in a process that was forked from the holder.
  status check() const;
  /// Calls `action` while no other process can take the folder over, unless check() fails. Other
  /// processes wait meanwhile: the action must be short.
  status while_held(const std::function<status()>& action) const;

private:
  struct state;
  explicit folder_lock(std::unique_ptr<state> held);
  std::unique_ptr<state> state_;
};

} // namespace troupe
