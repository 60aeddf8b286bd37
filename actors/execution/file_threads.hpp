// Threads of a task that read and write files for waitable resources, so that no step's thread
// waits for a disk.
#pragma once
#include "troupe/runtime/state/file_access.hpp"

#include <functional>
#include <memory>

namespace troupe {

/// At most `max_threads` threads, of a lower priority than those of steps, if the system supports
/// that. They start on demand. Any thread may call.
class file_threads {
public:
  /// With 0 threads, run() does the work on the caller's thread.
  explicit file_threads(size_t max_threads);
  ~file_threads();

  /// Waits for running work. Queued and later work is dropped.
  void close();

  /// Runs `work` as soon as a thread is free; it must not throw. False: there is no thread, and the
  /// system cannot create one.
  bool run(std::function<void(file_access&)> work);

private:
  struct state;
  std::shared_ptr<state> state_; // shared with the threads
};

} // namespace troupe
