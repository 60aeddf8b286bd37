// Signals that ask a command to end in good order.
#pragma once
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace troupe::cli {

/// From now on SIGTERM, SIGINT and SIGHUP wait to be asked for; threads started later inherit that.
sigset_t block_stop_signals();

/// Calls a function at each of them, on a thread of its own, while it lives.
class stop_signals {
public:
  stop_signals(const sigset_t& blocked, std::function<void()> when);
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();

private:
  const sigset_t blocked_;
  std::atomic<bool> over_{false};
  std::thread waits_;
};

} // namespace troupe::cli
