// Threads of a task that read and write files for responders, so that no step's thread waits for a
// disk.
#pragma once
#include "troupe/runtime/state/file_access.hpp"

#include <functional>
#include <memory>

namespace troupe {

/// Of lower priority than those of steps, where the system can do that. They come with the first
/// work, and only as many as there is work at once. Any thread may call.
class input_threads {
public:
  /// With no threads, work is done at once by who hands it in.
  explicit input_threads(size_t most);
  ~input_threads();

  /// Waits for work under way; the rest, and what comes later, is dropped.
  void close();

  /// Does it as soon as a thread is free; it throws nothing. False: there is no thread, and the
  /// system gives none.
  bool run(std::function<void(file_access&)> work);

private:
  struct state;
  std::shared_ptr<state> state_; // with the threads
};

} // namespace troupe
