// Aborts a test that hangs: a wait without a bound must fail, not stop the whole run.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace troupe::test {

/// The factor for time limits under a sanitizer, which slows everything down.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr int timeout_scale = 5;
#else
inline constexpr int timeout_scale = 1;
#endif

/// The thread sanitizer takes several times the memory that it watches: gigabytes do not fit.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool gigabytes_fit = false;
#else
inline constexpr bool gigabytes_fit = true;
#endif

/// The factor TROUPE_PATIENCE for all timeouts, for tools that slow tests down.
inline int timeout_factor() {
  const auto* text = std::getenv("TROUPE_PATIENCE");
  return text ? std::max(1, std::atoi(text)) : 1;
}

/// Aborts the process unless it is destroyed in time.
class watchdog {
public:
  explicit watchdog(std::chrono::seconds limit = std::chrono::seconds{120})
      : thread_([this, timeout = limit * timeout_factor()] {
          std::unique_lock lock{mutex_};
          if (changed_.wait_for(lock, timeout, [&] { return done_; }))
            return;
          std::fprintf(stderr, "a test still ran after %d s\n", static_cast<int>(timeout.count()));
          std::abort();
        }) {}
  watchdog(const watchdog&) = delete;
  watchdog& operator=(const watchdog&) = delete;
  ~watchdog() {
    {
      std::lock_guard guard{mutex_};
      done_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

} // namespace troupe::test
