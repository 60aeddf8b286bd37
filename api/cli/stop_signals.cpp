#include "troupe/api/cli/stop_signals.hpp"
// Handles SIGTERM, SIGINT and SIGHUP on a thread.

namespace troupe::cli {

sigset_t block_stop_signals() {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigaddset(&stop, SIGINT);
  sigaddset(&stop, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &stop, nullptr);
  return stop;
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
}

} // namespace troupe::cli
