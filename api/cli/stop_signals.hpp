// Signals that ask a command to end in an orderly way.
#pragma once
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace troupe::cli {

/// Blocks SIGTERM, SIGINT and SIGHUP in this thread and in threads that it starts later.
sigset_t block_stop_signals();

/// Calls a function at each of these signals, on a separate thread, during its lifetime.
class stop_signals {
public:
  stop_signals(const sigset_t& blocked, std::function<void()> on_signal);
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();

private:
  const sigset_t blocked_;
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

} // namespace troupe::cli
