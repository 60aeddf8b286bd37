// Which tasks of a synchronous step live, as they agree among themselves.
#pragma once
#include "troupe/api/session.hpp"
#include "troupe/runtime/export.hpp"

#include <chrono>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

namespace troupe {

/// Devices on tasks that live, and have agreed on it at a barrier.
struct live_set {
  /// Greater than that of each set before, also of another process whose clock is not behind.
  int64_t epoch = 0;
  /// First those of tasks that were in the set before and have not been restarted since, then the
  /// others; else in the order in which they were named.
  std::vector<std::string> devices = {};
  std::vector<uint64_t> incarnations = {}; ///< of their tasks, in the same order; 0: not known
  size_t kept = 0;                         ///< how many of the first have kept their state
  std::vector<std::string> missing = {};   ///< devices of tasks that are not in the set
  bool changed = true; ///< another task, or another incarnation of one, than in the set before
};

struct living_tasks_options {
  /// For how long a task is waited for, and all of them at the barrier. A peer that is frozen is
  /// noticed by that, not by the session's peer timeout.
  std::chrono::milliseconds patience{2'000};
  size_t at_least = 1; ///< tasks; fewer are an error
};

/// Agrees with tasks on which of them live. Not for several threads at once.
///
///     living_tasks tasks{devices};
///     tasks.agree(s); // before the first step: which incarnations have the variables
///     for (;;) {
///       try {
///         s.run(feeds, {step.loss}, {step.train}, {.timeout = 5s});
///       } catch (const error& e) {
///         if (e.kind() != error_kind::unavailable && e.kind() != error_kind::deadline_exceeded)
///           throw;
///         auto living = tasks.agree(s);
///         if (living.kept == 0)
///           restore(s); // all of them have lost their variables
///         step = training.among(living.devices);
///         s.run(step.synchronize);
///       }
///     }
class TROUPE_API living_tasks {
public:
  using location = std::source_location;

  /// Devices with a job and a task each. Throws troupe::error for others.
  explicit living_tasks(const std::vector<std::string>& devices, living_tasks_options options = {},
                        location where = location::current());
  living_tasks(living_tasks&&) noexcept;
  living_tasks& operator=(living_tasks&&) noexcept;
  ~living_tasks();

  /// These, too: of tasks that may come later.
  void also(const std::vector<std::string>& devices, location where = location::current());

  /// Asks each task whether it lives, then runs a step in which each hears from all others (of more
  /// than 32, from the next 8): the barrier. Only a set that has passed it is returned. Of tasks
  /// that live and do not reach each other, those that were named first stay together. Between two
  /// steps of training, when none runs. Takes a moment where all live, else some times the
  /// patience. Throws troupe::error, `unavailable`, where fewer than `at_least` are left, and says
  /// why.
  live_set agree(session& in, location where = location::current());

private:
  struct state;
  std::unique_ptr<state> state_;
};

} // namespace troupe
