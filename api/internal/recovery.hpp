// Tries runs of a session again that failed because of a task, and has lost state restored. Not for
// users: they set recovery_options.
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

/// Of one session. Any thread may call.
class recovery {
public:
  explicit recovery(recovery_options how) : how_(std::move(how)) {}

  /// Whether a run may have to be tried again, or to wait.
  bool is_wanted() const noexcept { return how_.retries > 0 || how_.restore; }
  /// As in restore_hooks (actors/session/client.hpp).
  bool lose(const std::string& task) noexcept;
  bool awaits(const std::string& task);
  bool restores_here() const noexcept;
  static bool tries_again_here() noexcept { return tries_again_; }
  void unfilled(const std::string& task);

  /// `attempt` runs the step once; `restore` calls restore() with the session. Where another
  /// session fills what this one was about to fill, as `follows` says, the caller is to be told.
  /// Asked to `stop`, nothing is waited for or tried again.
  status run(
      bool has_effects, step_clock::time_point deadline, const std::stop_token& stop,
      const std::function<status()>& attempt, const std::function<void()>& restore,
      const std::function<bool()>& follows = [] { return false; });

  /// Calls recovery_options::restore.
  void restore(session& in) const;

private:
  status prepare(step_clock::time_point deadline, const std::stop_token& stop,
                 const std::function<void()>& restore);
  bool may_pass(const status& why, uint64_t restored_before) const;
  void tell(recovery_event what) const;

  using task_set = std::set<std::string>;

  const recovery_options how_;
  std::atomic<bool> lost_{false}; // something that is to be restored
  std::mutex mutex_;
  std::condition_variable_any changed_; // which a stop token can wake
  task_set lost_tasks_, under_restore_; // the latter are not empty while somebody restores
  task_set followed_;                   // lost, and filled by another session, when last heard
  std::atomic<uint64_t> restored_{0};   // how often
  static inline thread_local bool tries_again_ = false; // what the thread attempts now
};

/// Whether a step changes state, or waits for what it takes out of something: to run it twice is
/// not to run it once.
bool has_effects(const step_signature& signature);

} // namespace troupe
