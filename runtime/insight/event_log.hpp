// The log of a task: limits the rate of events and passes them to a hook.
#pragma once
#include "troupe/runtime/insight/log_event.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

/// The names of an event for one step and for several steps. The texts must outlive the log.
struct event_names {
  std::string_view singular, plural;
};

/// Passes events to a hook. Any thread may call.
class event_log {
public:
  /// Events of one name that are passed on per second. The next event that is passed on counts the
  /// dropped ones in its field "suppressed".
  static constexpr int max_per_second = 20;
  /// Steps that end with the same event form a group. A group is logged once no such step has ended
  /// for this time.
  static constexpr std::chrono::milliseconds group_idle_time{200};
  /// A group is logged at the latest at this age.
  static constexpr std::chrono::milliseconds max_group_age{1000};
  /// The largest number of open groups. Beyond it, each step that would begin a group is logged
  /// alone.
  static constexpr size_t max_groups = 64;

  event_log() = default;
  event_log(std::string task, log_hook hook) : hook_(std::move(hook)), task_(std::move(task)) {}
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;
  ~event_log(); ///< calls close()

  /// Emits the open groups. The hook is not called any more once this has returned, even if other
  /// threads still use the log. The hook must not call this.
  void close();
  /// Sets the task's name for events from now on.
  void set_task(std::string task);
  /// True if there is a hook; without one, callers need not build fields.
  explicit operator bool() const noexcept { return static_cast<bool>(hook_); }
  void write(log_level level, std::string_view event, std::vector<property> fields = {});
  /// Logs the end of a step. Steps that end within a short time with the same level, event and
  /// fields are one event at the time of the first: a single step has the field "step", several
  /// steps have "count", "first" and "last". The comparison ignores the step's number in texts.
  void write_step(log_level level, const event_names& event, int64_t step,
                  std::vector<property> fields);

private:
  using clock = std::chrono::steady_clock;
  struct rate {
    clock::time_point second{};
    int emitted = 0;
    int64_t suppressed = 0;
  };
  struct group {
    log_level level;
    event_names event;
    std::vector<property> fields, compared;
    std::chrono::system_clock::time_point time;
    clock::time_point begun, latest;
    int64_t count, first, last;
    clock::time_point due() const;
  };

  void emit(log_level level, std::string_view event, std::vector<property> fields,
            std::chrono::system_clock::time_point time);
  void emit(group&& steps);
  bool add_to_group(log_level level, const event_names& event, int64_t step,
                    const std::vector<property>& fields);
  void emit_groups(); // runs on flusher_

  const log_hook hook_;
  std::mutex mutex_; // guards all members below
  std::string task_;
  std::map<std::string, rate, std::less<>> rates_; // by event
  std::vector<group> groups_;
  std::condition_variable changed_;
  bool closing_ = false, closed_ = false;
  int calls_ = 0;       // calls of the hook that are running
  std::thread flusher_; // started with the first group
};

} // namespace troupe
