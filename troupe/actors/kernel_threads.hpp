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
  virtual ~waiting_caller() = default;
  /// A region of the step waits in line, which the caller may take back. Called by any thread,
  /// under a lock: to be brief, and to call nothing of kernel_threads.
  virtual void region_waits() noexcept = 0;

private:
  friend class kernel_threads;
  const task_instance* step_ = nullptr;
  waiting_caller *previous_ = nullptr, *next_ = nullptr; // in the list of kernel_threads
};

/// Runs regions in the order in which they became ready, on at most `most` threads, which start
/// with the first work. Those of steps that have stopped leave the line soon. While none of these
/// threads takes another region, because kernels keep all of them, a spare thread runs regions that
/// are quick (region_actor::quick), so that a long step does not hold up a short one. Any thread
/// may call.
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
  void run_later(region_actor* ready);
  /// A region of that step that no thread has begun, with one reference; null: there is none.
  region_actor* take_back(const task_instance& step);
  /// Tells `caller`, until remove_caller() has returned, when no thread is free for a region of
  /// that step. Takes nothing from the heap.
  void add_caller(const task_instance& step, waiting_caller& caller);
  void remove_caller(waiting_caller& caller);

private:
  class crew;
  std::shared_ptr<crew> crew_; // the threads', too
};

} // namespace troupe
