// The threads that run the kernels of a task, apart from those that run its actors.
#pragma once
#include <caf/fwd.hpp>

#include <cstddef>
#include <memory>

namespace troupe {

class region_actor;
class task_instance;

/// A thread that waits for the end of its step.
class waiting_caller {
public:
  /// A region of the step waits in line, which the caller may take back. Called by any thread,
  /// under a lock: to be brief, and to call nothing of kernel_threads.
  virtual void region_waits() noexcept = 0;

protected:
  ~waiting_caller() = default;
};

/// A running step as kernel_threads knows it, whose lock guards it.
struct step_in_line {
  waiting_caller* caller = nullptr; ///< that waits for its end
  size_t regions = 0;               ///< that no thread has begun
};

/// Runs regions in the order in which they became ready, on at most `most` threads, which start
/// with the first work. Those of steps that have stopped leave the line soon. While none of these
/// threads takes another region, because kernels keep all of them, a spare thread runs regions that
/// are quick (region_actor::quick), so that a long step does not hold up a short one. Any thread
/// may call. The line takes nothing from the heap.
class kernel_threads {
public:
  struct options {
    size_t most = 1;
    /// A thread looks for work for a moment before it sleeps (brief_look.hpp), as steps between
    /// tasks want it.
    bool looks = false;
    /// The system has no actors but a session's, which are brief: a thread that sends them a
    /// message handles it, instead of waking another thread.
    bool handles_messages = false;
  };
  /// The system waits for the threads when it ends, so this must end before.
  kernel_threads(caf::actor_system& system, const options& chosen);
  /// Does not wait: the threads run what was brought, then end.
  ~kernel_threads();

  size_t most() const noexcept;
  /// Takes over one reference.
  void run_later(region_actor* ready) noexcept;
  /// A region of that step that no thread has begun, with one reference; null: there is none.
  region_actor* take_back(task_instance& step) noexcept;
  /// While one exists, the caller is told when no thread is free for a region of its step. A step
  /// has one caller.
  class caller_in_line {
  public:
    caller_in_line(kernel_threads& threads, task_instance& step, waiting_caller& caller) noexcept;
    caller_in_line(const caller_in_line&) = delete;
    caller_in_line& operator=(const caller_in_line&) = delete;
    ~caller_in_line();

  private:
    kernel_threads& threads_;
    task_instance& step_;
  };

private:
  class crew;
  std::shared_ptr<crew> crew_; // the threads', too
};

} // namespace troupe
