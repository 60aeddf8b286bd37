// SIGTERM and SIGINT as calls of a function: a library has no say in what signals mean, a program
// does.
#pragma once
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace examples {

/// Makes these signals wait for stop_signals instead of ending the process. To be called before
/// other threads start, which then leave them alone, too.
sigset_t hold_stop_signals();

/// Calls a function at each of these signals, on a thread of its own, while it lives. When it goes,
/// the signals end the process again.
class stop_signals {
public:
  stop_signals(const sigset_t& held, std::function<void()> when);
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();

private:
  const sigset_t held_;
  std::atomic<bool> over_{false};
  std::thread waits_;
};

} // namespace examples
