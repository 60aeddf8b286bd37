// The threads that share the loops of CPU kernels.
#pragma once
#include "troupe/runtime/device/device.hpp"

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

/// Runs loops on the calling thread and on threads of its own that sleep between loops. A loop
/// lives on its caller's stack in a list of open loops: nothing is allocated, and a thread that
/// wakes late finds no loop instead of a dead one. The caller always works itself and waits only
/// for ranges that another thread is running at that moment, so that nested loops and full teams
/// cannot deadlock. When callers alone are as many as the team, they get no help: 16 steps at once
/// on two cores are 16 threads, as they were before they came. (docs/decisions/008: why not
/// oneTBB.)
class thread_team {
public:
  /// The process's one team of that many threads, the caller counted.
  static std::shared_ptr<thread_team> of(int threads);

  explicit thread_team(int threads) : threads_(threads) {}
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  int threads() const noexcept { return threads_; }
  /// Threads of its own that run by now: none before the first loop that is worth one.
  int started() const;

  /// As `device::parallel_ranges`. Throws what the body has thrown first, on whichever thread, once
  /// no thread is in the loop any more; ranges that were not begun are left out.
  void run(int64_t items, double nanoseconds_per_item, range_body body,
           stop_signal* stop = nullptr);

private:
  struct loop;

  int admit_helpers(int wanted);
  void start_workers();
  void work();
  void run_ranges(loop& of, bool helps);

  const int threads_;
  // Threads inside loops now, callers and helpers. Callers that would exceed the team work alone.
  std::atomic<int> active_{0};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  loop* open_ = nullptr; // a list, newest first: inner loops finish before outer ones
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

} // namespace troupe
