#include "examples/support/stop_signals.hpp"

namespace examples {

sigset_t hold_stop_signals() {
  sigset_t held;
  sigemptyset(&held);
  sigaddset(&held, SIGTERM);
  sigaddset(&held, SIGINT);
  pthread_sigmask(SIG_BLOCK, &held, nullptr);
  return held;
}

stop_signals::stop_signals(const sigset_t& held, std::function<void()> when)
    : held_(held), waits_([this, when = std::move(when)] {
        for (int signal = 0; sigwait(&held_, &signal) == 0 && !over_;)
          when();
      }) {}

stop_signals::~stop_signals() {
  over_ = true;
  pthread_kill(waits_.native_handle(), SIGTERM); // wakes it
  waits_.join();
  pthread_sigmask(SIG_UNBLOCK, &held_, nullptr);
}

} // namespace examples
