// The log of a task, which may be called from everywhere.
#pragma once
#include "troupe/runtime/insight/log_event.hpp"

#include <map>
#include <mutex>

namespace troupe {

/// Gives events to a hook. Any thread may call.
class event_log {
public:
  /// Of one event that comes more often, so many a second are told; the next one counts those that
  /// were not, in a field "suppressed".
  static constexpr int most_per_second = 20;

  event_log() = default;
  event_log(std::string task, log_hook hook) : hook_(std::move(hook)), task_(std::move(task)) {}

  /// What the task is called from now on.
  void rename(std::string task);
  /// Says whether anyone listens: else fields need not be made.
  explicit operator bool() const noexcept { return static_cast<bool>(hook_); }
  void write(log_level level, std::string_view event, std::vector<property> fields = {});

private:
  struct rate {
    std::chrono::steady_clock::time_point second{};
    int told = 0;
    int64_t suppressed = 0;
  };

  const log_hook hook_;
  std::mutex mutex_; // of what follows
  std::string task_;
  std::map<std::string, rate, std::less<>> rates_; // by event
};

} // namespace troupe
