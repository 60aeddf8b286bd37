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

/// Runs loops on the calling thread and on workers that sleep between loops. A loop is on the stack
/// of its caller, in a list of open loops: nothing is allocated, and a worker that wakes late does
/// not find the loop any more. The caller always works itself, and waits only for ranges that
/// another thread is running, so that nested loops and busy teams cannot deadlock. If the callers
/// are as many as the threads, they get no helpers: 16 concurrent steps on two cores use 16
/// threads. (docs/decisions/008: why not oneTBB.)
class thread_team {
public:
  /// The team of the process with this number of threads, including the caller.
  static std::shared_ptr<thread_team> shared(int threads);

  explicit thread_team(int threads) : threads_(threads) {}
  ~thread_team();
  thread_team(const thread_team&) = delete;
  thread_team& operator=(const thread_team&) = delete;

  int threads() const noexcept { return threads_; }
  /// The number of started workers: none before the first loop that is long enough.
  int started_workers() const;

  /// As `device::parallel_ranges`. Rethrows the first exception of the body, from any thread, after
  /// all threads have left the loop; ranges that have not begun are skipped.
  void run(int64_t items, double nanoseconds_per_item, range_body body,
           stop_signal* stop = nullptr);

private:
  struct loop;

  int admit_helpers(int wanted);
  void start_workers();
  void work();
  void run_ranges(loop& current, bool is_helper);

  const int threads_;
  // Threads inside loops, callers and helpers. Callers that would exceed the team work alone.
  std::atomic<int> active_{0};
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  loop* open_ = nullptr; // a list, newest first: inner loops end before outer ones
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

} // namespace troupe
