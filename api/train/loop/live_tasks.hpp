// Agreement among the tasks of a synchronous step on which of them are alive.
#pragma once
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"

#include <chrono>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// Devices of live tasks, on which these tasks have agreed at a barrier.
struct live_set {
  /// Greater than that of each earlier set, also of another process, unless its clock is behind.
  int64_t epoch = 0;
  /// First the devices of tasks that were in the previous set and have not been restarted since,
  /// then the others; each group in the order of their names in the constructor.
  std::vector<std::string> devices = {};
  std::vector<uint64_t> incarnations = {}; ///< of their tasks, in the same order; 0: unknown
  size_t kept_count = 0;                   ///< number of leading devices that have kept their state
  std::vector<std::string> missing = {};   ///< devices of tasks that are not in the set
  bool changed = true; ///< a task or an incarnation differs from the previous set
};

struct live_tasks_options {
  /// For each task, and for all of them at the barrier. It also detects frozen peers; the
  /// session's peer timeout does not apply.
  std::chrono::milliseconds timeout{2'000};
  size_t min_tasks = 1; ///< minimum number of tasks; fewer are an error
};

/// Agrees with tasks on which of them are alive. Not thread-safe.
///
///     live_tasks tasks{devices};
///     tasks.agree(s); // before the first step: which incarnations have the variables
///     for (;;) {
///       try {
///         s.run(feeds, {step.loss}, {step.train}, {.timeout = 5s});
///       } catch (const error& e) {
///         if (e.kind() != error_kind::unavailable && e.kind() != error_kind::deadline_exceeded)
///           throw;
///         auto living = tasks.agree(s);
///         if (living.kept_count == 0)
///           restore(s); // all of them have lost their variables
///         step = training.step_of(living.devices);
///         s.run(step.synchronize);
///       }
///     }
class TROUPE_API live_tasks {
public:
  using location = std::source_location;

  /// `devices` must have a job and a task each. Throws troupe::error otherwise.
  explicit live_tasks(const std::vector<std::string>& devices, live_tasks_options options = {},
                      location where = location::current());
  live_tasks(live_tasks&&) noexcept;
  live_tasks& operator=(live_tasks&&) noexcept;
  ~live_tasks();

  /// Adds devices of tasks that may join later.
  void add_devices(const std::vector<std::string>& devices, location where = location::current());

  /// Queries each task, then runs the barrier: a step in which each task hears from all others (in
  /// sets of more than 32, from the next 8). Returns only a set that has passed the barrier. If
  /// some live tasks cannot reach each other, those that were named first stay together. Call it
  /// between two training steps. It returns quickly if all tasks are alive, else after a few times
  /// `timeout`. Throws troupe::error, `unavailable`, with the reasons, if fewer than `min_tasks`
  /// are left.
  live_set agree(session& in, location where = location::current());

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
