// The log of a task, which may be called from everywhere.
#pragma once
#include "troupe/runtime/insight/log_event.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace troupe {

/// How an event is called of one step, and of several. They outlive the log.
struct event_names {
  std::string_view singular, plural;
};

/// Gives events to a hook. Any thread may call.
class event_log {
public:
  /// Of one event that comes more often, so many a second are told; the next one counts those that
  /// were not, in a field "suppressed".
  static constexpr int most_per_second = 20;
  /// Equal ends of steps are gathered until none has come for so long,
  static constexpr std::chrono::milliseconds pause_of_group{200};
  /// or for so long in all.
  static constexpr std::chrono::milliseconds age_of_group{1000};
  /// So many causes at once; of a further one, each step is told.
  static constexpr size_t most_groups = 64;

  event_log() = default;
  event_log(std::string task, log_hook hook) : hook_(std::move(hook)), task_(std::move(task)) {}
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;
  ~event_log(); ///< closes it

  /// Tells what is gathered. The hook is not called once this has returned, whoever still has the
  /// log; the hook must not call this.
  void close();
  /// What the task is called from now on.
  void rename(std::string task);
  /// Says whether anyone listens: else fields need not be made.
  explicit operator bool() const noexcept { return static_cast<bool>(hook_); }
  void write(log_level level, std::string_view event, std::vector<property> fields = {});
  /// The end of a step. Steps that end so within a moment, with the same fields, are one event:
  /// with the field "step" where it is one, else with "count", "first" and "last", at the time of
  /// the first. The number of the step in a text counts as the same.
  void write_step(log_level level, const event_names& event, int64_t step,
                  std::vector<property> fields);

private:
  using clock = std::chrono::steady_clock;
  struct rate {
    clock::time_point second{};
    int told = 0;
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

  void tell(log_level level, std::string_view event, std::vector<property> fields,
            std::chrono::system_clock::time_point time);
  void tell(group&& of);
  bool gather(log_level level, const event_names& event, int64_t step,
              const std::vector<property>& fields);
  void tell_groups(); // the flusher's work

  const log_hook hook_;
  std::mutex mutex_; // of what follows
  std::string task_;
  std::map<std::string, rate, std::less<>> rates_; // by event
  std::vector<group> groups_;
  std::condition_variable changed_;
  bool ends_ = false, closed_ = false;
  int calls_ = 0;       // of the hook, at present
  std::thread flusher_; // once there is something to gather
};

} // namespace troupe
