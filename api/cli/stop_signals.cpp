#include "troupe/api/cli/stop_signals.hpp"

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

stop_signals::stop_signals(const sigset_t& blocked, std::function<void()> when)
    : blocked_(blocked), waits_([this, when = std::move(when)] {
        for (int signal = 0; sigwait(&blocked_, &signal) == 0 && !over_;)
          when();
      }) {}

stop_signals::~stop_signals() {
  over_ = true;
  pthread_kill(waits_.native_handle(), SIGTERM); // wakes it
  waits_.join();
}

} // namespace troupe::cli
