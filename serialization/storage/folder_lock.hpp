// The lock of a folder: one process at a time writes to it (docs/files.md, decision 077).
//
// A text file in the folder names the holder: its host, process and the time since when. A process
// of the same kernel is known to have ended by its number and the time at which it started. Of a
// process elsewhere, which may see the folder over a network, the file counts up while it lives:
// where the count stands still for `silent`, it has ended. No clock of another machine is read.
#pragma once
#include "troupe/runtime/types/status.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

struct folder_lock_options {
  std::string file = "writer.lock"; ///< its name in the folder
  std::string writes = "files";     ///< what the holder writes there, for errors: "checkpoints"
  std::string by = {};    ///< which part of the program asks, for errors: "saver (a.cpp:1)"
  bool take_over = false; ///< also from a holder that lives, which then may not write
  std::string how_to_take_over = {}; ///< for errors: "set saver_options::take_over"
  /// Several of one process share it. Else each of them is a writer of its own.
  bool shared_in_process = false;
  std::chrono::milliseconds refresh{3'000};
  std::chrono::milliseconds silent{15'000}; ///< a few times `refresh` of the holder
};

/// The right to write to a folder, until it is destroyed. After a fork, the child has none. Any
/// thread may call.
class folder_lock {
public:
  /// Fails with already_exists, naming the holder, where another holds the folder; after `silent`
  /// at the latest where the holder is of another machine or another container. Fails as file
  /// systems do where the lock cannot be written. The folder must be there.
  static result<std::shared_ptr<folder_lock>> take(const std::string& folder,
                                                   folder_lock_options options);
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  /// Lets go: the file is removed if it is still the own one.
  ~folder_lock();

  /// Fails with already_exists, naming the new holder, where another has taken the folder over, and
  /// in a process that was forked from the holder.
  status check() const;
  /// Calls `act` while no other process can take the folder over, unless check() fails. Others wait
  /// for it: it must be short.
  status while_held(const std::function<status()>& act) const;

private:
  struct state;
  explicit folder_lock(std::unique_ptr<state> held);
  std::unique_ptr<state> state_;
};

} // namespace troupe
