// The part of gpu_context that waits for launches: the device's thread, and the end of the device.
#include "troupe/devices/gpu/core/gpu_context.hpp"

#include <sys/prctl.h>

#include <utility>

namespace troupe::gpu {
namespace {

using namespace std::chrono_literals;
using steady_clock = std::chrono::steady_clock;

// The longest time of a kernel while a thread waits for memory or for the end of the device.
constexpr auto max_wait = 10s;
// The same for a device whose watchdog has waited already.
constexpr auto max_wait_after_loss = 1s;
constexpr auto poll_interval = 500us; // between checks whether a wait for an event is still wanted

} // namespace

// Queued after the other completions, on the same thread.
void gpu_context::fail_later(std::function<void(status)> done, status reason) {
  completions_.push({nullptr,
                     [done = std::move(done), reason = std::move(reason)](status) { done(reason); },
                     {}});
}

status gpu_context::wait_for(event awaited) {
  auto at_most = loss_.may_run() ? max_wait_after_loss : max_wait;
  for (auto deadline = steady_clock::now() + at_most;;) {
    TROUPE_ASSIGN(auto passed, driver_->wait(awaited, poll_interval));
    if (passed)
      return {};
    if (steady_clock::now() > deadline)
      return failure(error_kind::deadline_exceeded, name(), " does not finish its launches");
  }
}

// Waits for the launches before a completion. On a lost device they may never end.
status gpu_context::await(const completion& next) {
  if (!next.passed_event)
    return {};
  for (auto begin = steady_clock::now();;) {
    // Compared before the event is checked: a process that was suspended looks once more.
    auto is_silent = watchdog_.count() > 0 && steady_clock::now() - begin > watchdog_;
    auto waited = driver_->wait(next.passed_event, poll_interval);
    if (!waited)
      return note(waited.status());
    if (*waited)
      return {};
    TROUPE_TRY(health());
    if (is_silent)
      return lose(
          concat("no launch has ended for ", watchdog_.count(), " ms, its watchdog's limit"),
          loss_record::cause::silence);
    if (completions_.has_stopped_for(max_wait))
      return failure(error_kind::cancelled, name(), " is shut down");
  }
}

void gpu_context::complete(completion next) {
  auto outcome = await(next);
  if (next.launches) { // takes the errors in any case: no later step must get them
    auto reported = driver_->device_errors().take(*next.launches);
    if (outcome)
      outcome = std::move(reported);
  }
  loss_.report(); // before the steps end, so that the listeners may name the reason first
  next.done(std::move(outcome));
  next.done = nullptr; // releases its captures
  if (next.passed_event) {
    std::lock_guard events{mutex_};
    events_.push_back(next.passed_event);
  }
}

void gpu_context::run_completions() {
  // By default Linux wakes a sleeping thread up to 50 us late, as long as a short step. The setting
  // is for this thread only: other threads may be the user's.
  static_cast<void>(::prctl(PR_SET_TIMERSLACK, 1UL));
  for (completion next;;)
    switch (completions_.wait(next, give_back_after_)) {
      case completion_queue::work::completion: complete(std::exchange(next, {})); break;
      case completion_queue::work::report: loss_.report(); break;
      case completion_queue::work::idle: give_back_if_idle(); break;
      case completion_queue::work::none: return;
    }
}

} // namespace troupe::gpu
