// SIGTERM and SIGINT as calls of a function. Programs, not the library, define the meaning of
// signals.
#pragma once
#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace examples {

/// Blocks these signals for stop_signals, so that they do not end the process. Call it before other
/// threads start, which inherit this.
sigset_t block_stop_signals();

/// Calls a function at each of these signals, on a separate thread, during its lifetime. The
/// destructor restores the default action of the signals.
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

} // namespace examples
