#include "examples/support/stop_signals.hpp"
// Handles SIGTERM and SIGINT on a thread.

namespace examples {

sigset_t block_stop_signals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGINT);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  return blocked;
}

stop_signals::stop_signals(const sigset_t& blocked, std::function<void()> on_signal)
    : blocked_(blocked), thread_([this, on_signal = std::move(on_signal)] {
        for (int signal = 0; sigwait(&blocked_, &signal) == 0 && !is_over_;)
          on_signal();
      }) {}

stop_signals::~stop_signals() {
  is_over_ = true;
  pthread_kill(thread_.native_handle(), SIGTERM); // wakes the thread
  thread_.join();
  pthread_sigmask(SIG_UNBLOCK, &blocked_, nullptr);
}

} // namespace examples
