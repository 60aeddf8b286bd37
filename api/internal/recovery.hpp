// Retries runs of a session that failed because of a task, and restores lost state. Internal: users
// set recovery_options.
#pragma once
#include "troupe/api/session_options.hpp"
#include "troupe/runtime/graph/step_signature.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>

namespace troupe {

/// The recovery of one session. Thread-safe.
class recovery {
public:
  explicit recovery(recovery_options options) : options_(std::move(options)) {}

  /// Returns true if runs may have to be retried, or to wait for a restore.
  bool is_wanted() const noexcept { return options_.max_retries > 0 || options_.restore_state; }

  // The functions of restore_hooks (actors/session/client.hpp). Any thread may call them.

  /// Records that the session's state on a task is lost. Returns false, and records nothing,
  /// without recovery_options::restore_state.
  bool add_lost_task(const std::string& task) noexcept;
  /// Returns true if the state on the task is lost or being restored.
  bool awaits_restore(const std::string& task);
  /// Returns true if the calling thread runs recovery_options::restore_state of this session.
  bool is_restoring_thread() const noexcept;
  /// Returns true if the calling thread runs an attempt that is retried if it fails.
  static bool is_retrying_thread() noexcept { return may_retry_; }
  /// Records that no session initializes the task: if another session was doing so, it has given
  /// up, and this session must restore its state there.
  void add_uninitialized_task(const std::string& task);

  /// Runs a step with retries. `attempt` runs the step once; `restore` calls restore() with the
  /// session. If `is_initialized_elsewhere` returns true, another session initializes a task that
  /// this one was about to initialize: the error is returned without a retry. After a request to
  /// `stop`, nothing is waited for or retried.
  status run(
      bool has_effects, step_clock::time_point deadline, const std::stop_token& stop,
      const std::function<status()>& attempt, const std::function<void()>& restore,
      const std::function<bool()>& is_initialized_elsewhere = [] { return false; });

  /// Calls recovery_options::restore_state.
  void restore(session& in) const;

private:
  status prepare(step_clock::time_point deadline, const std::stop_token& stop,
                 const std::function<void()>& restore);
  bool may_pass(const status& cause, uint64_t restored_before) const;
  void report_event(recovery_event event) const;

  using task_set = std::set<std::string>;

  const recovery_options options_;
  std::atomic<bool> lost_{false}; // lost_tasks_ is not empty
  std::mutex mutex_;
  std::condition_variable_any changed_; // supports stop tokens
  task_set lost_tasks_, under_restore_; // under_restore_ is not empty while a thread restores
  task_set initialized_elsewhere_;      // lost, and being initialized by another session
  std::atomic<uint64_t> restored_{0};   // number of restores
  static inline thread_local bool may_retry_ = false; // the thread's current attempt
};

/// Returns true if a step changes state, or takes elements out of a queue or the like: running it
/// twice differs from running it once.
bool has_effects(const step_signature& signature);

} // namespace troupe
